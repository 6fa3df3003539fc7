// SPDX-License-Identifier: Apache-2.0

import CCrypto

/// SHA-256 (FIPS 180-4), which takes its input in pieces.
package struct SHA256: Sendable {
    package static let digestBytes = 32
    private var state = SHA256_CTX()

    /// Begins with no input.
    package init() { _ = unsafe SHA256_Init(&state) }

    /// Appends bytes to the input.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        _ = unsafe SHA256_Update(&state, bytes.baseAddress, bytes.count)
    }

    /// Appends bytes to the input.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let isDone: Void? = bytes.withContiguousStorageIfAvailable { bytes in
            unsafe update(UnsafeRawBufferPointer(bytes))
        }
        if isDone == nil { unsafe Array(bytes).withUnsafeBytes { unsafe update($0) } }
    }

    /// The digest as four words, each read least significant byte first.
    package consuming func words() -> (UInt64, UInt64, UInt64, UInt64) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { bytes in
            _ = unsafe SHA256_Final(bytes.bindMemory(to: UInt8.self).baseAddress, &state)
        }
        return (
            UInt64(littleEndian: words.0), UInt64(littleEndian: words.1), UInt64(littleEndian: words.2),
            UInt64(littleEndian: words.3)
        )
    }

    /// The digest of the input.
    package consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.digestBytes)
        _ = unsafe SHA256_Final(&digest, &state)
        return digest
    }

    /// The digest of some bytes.
    package static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var function = Self()
        function.update(bytes)
        return function.finish()
    }
}

extension Sequence<UInt8> {
    /// The bytes in lower-case hexadecimal, two digits each.
    package var hexadecimal: String {
        String(decoding: flatMap { [$0.hexadecimalDigits.0, $0.hexadecimalDigits.1] }, as: UTF8.self)
    }
}
