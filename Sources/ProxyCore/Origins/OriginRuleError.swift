// SPDX-License-Identifier: Apache-2.0

/// An origin rule that can't be used.
package struct OriginRuleError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule's index in the list, from 0.
    package let index: Int
    /// The invalid member, such as `auth.password`.
    package let key: String
    /// Why it is invalid; never contains a secret.
    package let reason: String

    /// Why a member is invalid, thrown to a caller that knows the rule and the member.
    package struct Reason: Error {
        package let text: String
        /// The member, if it differs from the one that the caller knows.
        var key: String?
        package init(_ text: String, at key: String? = nil) { (self.text, self.key) = (text, key) }
    }

    /// Names a rule's member and what is wrong with it.
    package init(index: Int, key: String, reason: String) {
        (self.index, self.key, self.reason) = (index, key, reason)
    }

    /// Path and reason.
    package var description: String { "origins.\(index).\(key): \(reason)" }
}
