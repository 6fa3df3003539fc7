// SPDX-License-Identifier: Apache-2.0

/// An origin rule that can't be used.
public struct OriginRuleError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule's place in the list, from 0.
    public let index: Int
    /// The member at fault, such as `auth.password`.
    public let key: String
    /// What is wrong with it; never a secret.
    public let reason: String

    /// What is wrong, for the one who knows which rule and member.
    struct Reason: Error {
        let text: String
        /// The member, where it is another than the one who reads knows.
        var key: String?
        init(_ text: String) { self.text = text }
    }

    /// Path and reason.
    public var description: String { "origins.\(index).\(key): \(reason)" }
}
