// SPDX-License-Identifier: Apache-2.0

package import URLs

/// An origin could read the URL as one that another rule matches, or none.
package struct AmbiguousURLError: Error, Sendable, Hashable {}

/// The table of origin rules (SDWebImage's options processor); the first rule that matches a source applies.
package struct OriginRules: Sendable, Hashable {
    private let rules: [OriginRule]
    /// The buckets that the rules are about.
    package let buckets: Buckets

    package static let none = OriginRules()

    private init() { (rules, buckets) = ([], .none) }

    /// Checks all rules and reads their secrets.
    /// - Throws: the error of the first invalid rule, with its index.
    package init(
        _ configurations: [OriginRuleConfiguration], secrets: SecretReader
    ) throws(OriginRuleError) {
        buckets = Buckets(configurations, secrets: secrets)
        var rules: [OriginRule] = []
        for (index, configuration) in configurations.enumerated() {
            rules.append(try OriginRule(configuration, at: index, secrets: secrets, buckets: buckets))
        }
        self.rules = rules
    }

    /// The first error of each invalid rule.
    package static func problems(
        of configurations: [OriginRuleConfiguration], secrets: SecretReader
    ) -> [OriginRuleError] {
        let buckets = Buckets(configurations, secrets: secrets)
        return configurations.enumerated().compactMap { index, configuration in
            do throws(OriginRuleError) {
                _ = try OriginRule(configuration, at: index, secrets: secrets, buckets: buckets)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Returns the rule for a source; nil if none matches. O(rules × (pattern + URL)).
    ///
    /// - Throws: if the origin could interpret the URL (hidden dot segments or slashes,
    ///   empty segments) as one that another rule matches, or none. So such a URL neither avoids a
    ///   restriction nor gets a rule's additions, above all its credentials, for a source that the rule does
    ///   not match.
    package func rule(for url: SourceURL) throws(AmbiguousURLError) -> OriginRule? {
        guard !rules.isEmpty else { return nil }
        let candidate = URLCandidate(url)
        let rule = rules.first { $0.matches(candidate) }
        guard candidate.loosePath != nil else { return rule }
        guard rules.first(where: { $0.couldMatch(candidate) }) === rule,
            rule == nil || !URLPattern.hidesDotSegment(url.path)
        else { throw AmbiguousURLError() }
        return rule
    }
}
