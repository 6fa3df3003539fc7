// SPDX-License-Identifier: Apache-2.0

/// Why a dialect's URL has no translation. Texts are safe to show to the client.
package struct TranslationError: Error, Sendable, Hashable {
    /// What kind of failure it is; decides the status.
    package enum Kind: Sendable, Hashable {
        /// The URL is none of the dialect: an unknown option, a value out of range.
        case invalid
        /// The other proxy would do it; there is no equivalent.
        case unsupported
        /// The signature is missing or wrong.
        case signature
        /// The settings do not allow it.
        case forbidden
        /// The URL's time is over.
        case expired
        /// There is nothing at this path.
        case notFound
    }

    /// What kind of failure it is.
    package let kind: Kind
    /// The option's name in the dialect's URL; empty where it is not about one.
    package let option: String
    /// What is wrong, and what to do.
    package let reason: String

    package init(_ kind: Kind, _ option: String, _ reason: String) {
        self.kind = kind
        self.option = option
        self.reason = reason
    }
}
