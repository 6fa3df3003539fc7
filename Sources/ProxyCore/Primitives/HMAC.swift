// SPDX-License-Identifier: Apache-2.0

/// The key of a message authentication code (RFC 2104), with the work that is the same for each message done.
package struct HMACKey<Function: HashFunction>: Sendable {
    private let inner: Function
    private let outer: Function

    /// - Parameter key: any number of bytes; more than a block are hashed first.
    package init(_ key: [UInt8]) {
        var block = key.count > Function.blockBytes ? Function.hash(key) : key
        block += [UInt8](repeating: 0, count: Function.blockBytes - block.count)
        inner = Self.function(of: block, with: 0x36)
        outer = Self.function(of: block, with: 0x5C)
    }

    private static func function(of block: [UInt8], with pad: UInt8) -> Function {
        var function = Function()
        function.update(block.map { $0 ^ pad })
        return function
    }

    /// The code of a message, `digestBytes` long.
    package func code(for message: some Sequence<UInt8>) -> [UInt8] {
        var inner = inner
        inner.update(message)
        var outer = outer
        outer.update(inner.finish())
        return outer.finish()
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
