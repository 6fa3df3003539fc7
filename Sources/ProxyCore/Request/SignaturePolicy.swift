// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Who may ask for what: targets signed with HMAC-SHA256 under one of several keys.
///
/// `sig` is the base64url of the HMAC over path and query as received, up to but without the last `&sig=`.
public struct SignaturePolicy: Sendable {
    private let keys: [SymmetricKey]
    /// Whether a target without a signature is refused.
    public let isRequired: Bool

    /// Fewest bytes of a key.
    public static let minKeyBytes = 16
    /// Most keys valid at once: each costs an HMAC a request.
    public static let maxKeys = 16

    private static let mark = Array("&sig=".utf8)

    /// No keys: nothing needs a signature, and none is accepted.
    public static let none = SignaturePolicy(keys: [], isRequired: false)

    /// - Parameter keys: raw bytes, each at least `minKeyBytes` long; several for rotation.
    public init(keys: [[UInt8]], isRequired: Bool) {
        self.keys = keys.map { SymmetricKey(data: $0) }
        self.isRequired = isRequired && !keys.isEmpty
    }

    /// A target cut into what is signed, and the signature.
    public struct Outcome: Sendable {
        /// Path and query without the signature.
        public let signed: ArraySlice<UInt8>
        /// Whether a valid signature covers them.
        public let isSigned: Bool
    }

    /// Checks a target: path and query, raw bytes.
    ///
    /// Takes the same time whichever key fits, and whether one does.
    ///
    /// - Throws: `.signatureRequired`, `.signatureMismatch`; `.invalidParameter` where `sig` is not the last parameter.
    public func check(_ target: [UInt8]) throws(PipelineError) -> Outcome {
        guard let mark = Self.lastMark(in: target) else {
            guard !Self.beginsWithSignature(target) else { throw Self.misplaced }
            guard !isRequired else { throw .signatureRequired }
            return Outcome(signed: target[...], isSigned: false)
        }
        let signature = target[(mark + Self.mark.count)...]
        // A parameter behind it: nobody can say what was meant to be signed.
        guard !signature.contains(UInt8(ascii: "&")) else { throw Self.misplaced }
        let signed = target[..<mark]
        guard isValid(Base64URL.decode(signature) ?? [], for: signed) else { throw .signatureMismatch }
        return Outcome(signed: signed, isSigned: true)
    }

    private static let misplaced = PipelineError.invalidParameter(
        name: "sig", position: 0, reason: "must be the last parameter, written as '&sig='")

    /// Whether the first parameter is a signature.
    private static func beginsWithSignature(_ target: [UInt8]) -> Bool {
        target.firstIndex(of: UInt8(ascii: "?")).map { target[($0 + 1)...].starts(with: mark.dropFirst()) }
            ?? false
    }

    private func isValid(_ code: [UInt8], for signed: ArraySlice<UInt8>) -> Bool {
        var isValid = false
        for key in keys where HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: key)
        {
            isValid = true
        }
        return isValid
    }

    private static func lastMark(in target: [UInt8]) -> Int? {
        guard let query = target.firstIndex(of: UInt8(ascii: "?")), target.count >= mark.count else {
            return nil
        }
        var index = target.count - mark.count
        while index > query {
            // One byte tells nearly always.
            if target[index] == mark[0], target[index..<(index + mark.count)].elementsEqual(mark) {
                return index
            }
            index -= 1
        }
        return nil
    }

    /// Signs path and query; returns them with their signature, ready to be asked for.
    public static func sign(_ target: String, with key: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array(target.utf8), using: SymmetricKey(data: key))
        return target + "&sig=" + Base64URL.encode(code)
    }
}
