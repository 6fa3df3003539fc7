// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Which targets are allowed: those signed with HMAC-SHA256 under one of several keys.
///
/// `sig` is the base64url of the HMAC over path and query as received, up to but without the last `&sig=`.
package struct SignaturePolicy: Sendable {
    private let keys: [HMACKey]
    /// Whether a target without a signature is refused.
    package let isRequired: Bool

    /// The minimum number of bytes of a key.
    package static let minKeyBytes = 16
    /// The maximum number of keys: each costs one HMAC per request.
    package static let maxKeys = 16

    private static let mark = Array("&sig=".utf8)

    /// No keys: nothing needs a signature, and none is accepted.
    package static let none = SignaturePolicy(keys: [], isRequired: false)

    /// - Parameters:
    ///   - keys: raw bytes, each at least `minKeyBytes` long; several for rotation.
    ///   - isRequired: whether an unsigned request is refused, if there are keys.
    package init(keys: [[UInt8]], isRequired: Bool) {
        self.keys = keys.map { HMACKey(.sha256, $0) }
        self.isRequired = isRequired && !keys.isEmpty
    }

    /// Whether a target can be signed at all.
    var hasKeys: Bool { !keys.isEmpty }

    /// A target split into its signed part and the signature.
    package struct Outcome: Sendable {
        /// Path and query without the signature.
        package let signed: ArraySlice<UInt8>
        /// Whether a valid signature covers it.
        package let isSigned: Bool
    }

    /// Checks a target: path and query, raw bytes.
    ///
    /// The time does not depend on which key fits, or whether one does.
    ///
    /// - Throws: `.signatureRequired`, `.signatureMismatch`; `.invalidParameter` if `sig` is not the last
    ///   parameter.
    package func check(_ target: [UInt8]) throws(ImageRequestError) -> Outcome {
        guard let mark = Self.lastMark(in: target) else {
            guard !Self.beginsWithSignature(target) else { throw Self.misplaced }
            guard !isRequired else { throw .signatureRequired }
            return Outcome(signed: target[...], isSigned: false)
        }
        let signature = target[(mark + Self.mark.count)...]
        // With a parameter after it, the signed part would be ambiguous.
        guard !signature.contains(UInt8(ascii: "&")) else { throw Self.misplaced }
        let signed = target[..<mark]
        guard isValid(Base64.decodeURL(signature) ?? [], for: signed) else {
            throw .signatureMismatch(hasKeys: !keys.isEmpty)
        }
        return Outcome(signed: signed, isSigned: true)
    }

    private static let misplaced = ImageRequestError.invalidParameter(
        name: "sig", position: 0, reason: "must be the last parameter, written as '&sig='")

    /// Whether the first parameter is a signature.
    private static func beginsWithSignature(_ target: [UInt8]) -> Bool {
        target.firstIndex(of: UInt8(ascii: "?")).map { target[($0 + 1)...].starts(with: mark.dropFirst()) }
            ?? false
    }

    private func isValid(_ code: [UInt8], for signed: ArraySlice<UInt8>) -> Bool {
        var isValid = false
        for key in keys where key.isValid(code, for: signed) { isValid = true }
        return isValid
    }

    private static func lastMark(in target: [UInt8]) -> Int? {
        guard let query = target.firstIndex(of: UInt8(ascii: "?")), target.count >= mark.count else {
            return nil
        }
        var index = target.count - mark.count
        while index > query {
            // The first byte alone rules out nearly all positions.
            if target[index] == mark[0], target[index..<(index + mark.count)].elementsEqual(mark) {
                return index
            }
            index -= 1
        }
        return nil
    }

    /// Signs path and query; returns them with their signature, ready for a request.
    package static func sign(_ target: String, with key: [UInt8]) -> String {
        target + "&sig=" + code(of: Array(target.utf8), with: key)
    }

    /// The signature of path and query.
    static func code(of target: [UInt8], with key: [UInt8]) -> String {
        Base64.encodeURL(HMACKey(.sha256, key).code(for: target))
    }
}
