// SPDX-License-Identifier: Apache-2.0

/// The table of origin rules (SDWebImage's options processor): of those that match a source, the first holds.
public struct OriginRules: Sendable {
    private let rules: [OriginRule]

    /// No rule at all.
    public static let none = OriginRules()

    private init() { rules = [] }

    /// Checks all rules and reads their secrets.
    /// - Throws: what is wrong with the first rule that can't be used, with its place in the list.
    public init(
        _ configurations: [OriginRuleConfiguration], secrets: SecretReader
    ) throws(OriginRuleError) {
        var rules: [OriginRule] = []
        for (index, configuration) in configurations.enumerated() {
            rules.append(try OriginRule(configuration, at: index, secrets: secrets))
        }
        self.rules = rules
    }

    /// The rule for a source; nil when none is about it. O(rules × (pattern + URL)).
    ///
    /// - Throws: `sourceForbidden` where a rule matches a path that hides dot segments: to the origin it could be another
    ///   path, which the rule with its credentials is not about.
    public func rule(for url: SourceURL) throws(PipelineError) -> OriginRule? {
        guard !rules.isEmpty, let rule = rules.first(where: { $0.matches(url) }) else { return nil }
        guard !URLPattern.hidesDotSegment(url.path) else { throw .sourceForbidden }
        return rule
    }

    /// Whether any rule serves files.
    public var serveFiles: Bool { rules.contains { $0.root != nil } }
}
