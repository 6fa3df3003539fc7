// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Signs the requests of nodes to each other: HMAC-SHA256 over the method and the target, in hexadecimal.
///
/// A request's target contains all of its parameters, so signing method and target suffices.
package struct ClusterKey: Sendable {
    private let key: HMACKey

    package static let field = "Imageproxyd-Signature"
    /// The minimum length of a key, in bytes.
    package static let minBytes = 32

    /// Wraps the bytes of a key.
    package init(_ bytes: [UInt8]) { key = HMACKey(.sha256, bytes) }

    /// The signature of a request.
    package func signature(_ method: String, _ target: String) -> String {
        let text = Array("\(method) \(target)".utf8)
        return key.code(for: text).hexadecimal
    }

    /// The signature of a node's answer to a request, so that no host between the nodes can substitute a
    /// picture.
    package func signature(ofAnswer content: [UInt8], to target: String) -> String {
        signature("ANSWER", target + " " + SHA256.hash(content).hexadecimal)
    }

    /// A number that only holders of the key can compute of a text.
    func seed(_ text: String) -> UInt64 {
        let code = key.code(for: Array("seed \(text)".utf8))
        return code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// Whether a signature is a request's; takes as long for any.
    package func isValid(_ signature: String, _ method: String, _ target: String) -> Bool {
        Array(signature.utf8).isEqualInConstantTime(to: Array(self.signature(method, target).utf8))
    }
}
