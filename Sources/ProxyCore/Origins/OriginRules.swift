// SPDX-License-Identifier: Apache-2.0

/// The table of origin rules (SDWebImage's options processor): of those that match a source, the first holds.
public struct OriginRules: Sendable, Hashable {
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
    /// - Throws: `sourceForbidden` where the origin could take the URL for one that another rule is about, or none: hidden
    ///   dot segments or slashes, empty segments. Neither may a restriction be dodged by that, nor may what a rule opens,
    ///   its credentials above all, go to what it is not about.
    public func rule(for url: SourceURL) throws(PipelineError) -> OriginRule? {
        guard !rules.isEmpty else { return nil }
        let candidate = URLCandidate(url)
        let rule = rules.first { $0.matches(candidate) }
        guard candidate.loosePath != nil else { return rule }
        guard rules.first(where: { $0.couldMatch(candidate) }) === rule,
            rule == nil || !URLPattern.hidesDotSegment(url.path)
        else { throw .sourceForbidden }
        return rule
    }

    /// Whether any rule serves files.
    public var serveFiles: Bool { rules.contains { $0.root != nil } }
}
