// SPDX-License-Identifier: Apache-2.0

/// The key of a message authentication code (RFC 2104).
package struct HMACKey: Sendable {
    private let function: HashFunction
    /// The key's block, XORed with the pad of the inner and of the outer hash.
    private let inner, outer: [UInt8]

    /// - Parameters:
    ///   - function: what it hashes with.
    ///   - key: any number of bytes; more than a block are hashed first.
    package init(_ function: HashFunction, _ key: [UInt8]) {
        var block = key.count > function.blockBytes ? function.hash(key) : key
        block += [UInt8](repeating: 0, count: function.blockBytes - block.count)
        self.function = function
        inner = block.map { $0 ^ 0x36 }
        outer = block.map { $0 ^ 0x5C }
    }

    /// The code of a message, as long as a digest.
    package func code(for message: some Sequence<UInt8>) -> [UInt8] {
        function.hash(outer + function.hash(inner + message))
    }

    /// Whether a code is that of a message; the time depends on the code's length alone.
    package func isValid(_ code: [UInt8], for message: some Sequence<UInt8>) -> Bool {
        code.isEqualInConstantTime(to: self.code(for: message))
    }
}

extension Array<UInt8> {
    /// Compares in a time that depends on the lengths alone, so that a secret can't be guessed byte by byte.
    package func isEqualInConstantTime(to other: [UInt8]) -> Bool {
        count == other.count && zip(self, other).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
    }
}
