// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Signs the requests of nodes to each other: HMAC-SHA256 over the method and the target, in hexadecimal.
///
/// What a request asks for stands in its target alone, so that a signature is good for that and nothing else.
package struct ClusterKey: Sendable {
    private let key: SymmetricKey

    /// The field that has the signature.
    package static let field = "Imageproxyd-Signature"
    /// The minimum length of a key, in bytes.
    package static let minBytes = 32

    /// Wraps the bytes of a key.
    package init(_ bytes: [UInt8]) { key = SymmetricKey(data: bytes) }

    /// The signature of a request.
    package func signature(_ method: String, _ target: String) -> String {
        let text = Array("\(method) \(target)".utf8)
        return ContentDigest.hex(HMAC<SHA256>.authenticationCode(for: text, using: key))
    }

    /// The signature of a node's answer to a request: so that nobody between the nodes can choose a picture.
    package func signature(ofAnswer content: [UInt8], to target: String) -> String {
        signature("ANSWER", target + " " + ContentDigest.sha256(content))
    }

    /// A number that only holders of the key can compute of a text.
    func seed(_ text: String) -> UInt64 {
        let code = HMAC<SHA256>.authenticationCode(for: Array("seed \(text)".utf8), using: key)
        return code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// Whether a signature is a request's; takes as long for any.
    package func isValid(_ signature: String, _ method: String, _ target: String) -> Bool {
        let (given, wanted) = (Array(signature.utf8), Array(self.signature(method, target).utf8))
        guard given.count == wanted.count else { return false }
        return zip(given, wanted).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
