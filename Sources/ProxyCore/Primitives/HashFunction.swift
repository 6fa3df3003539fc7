// SPDX-License-Identifier: Apache-2.0

import CCrypto

/// The hash functions that sign, each over the whole of its input.
package enum HashFunction: Sendable, CaseIterable {
    case sha256
    case sha512
    /// Broken as a digest of what others choose; its HMAC signs thumbor's URLs.
    case sha1
    /// Broken (RFC 1321); imgix's URLs and requests of S3 need it.
    case md5

    /// The number of bytes that the function takes in at once: B of RFC 2104.
    var blockBytes: Int { self == .sha512 ? 128 : 64 }

    /// The digest of some bytes.
    package func hash(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha256: SHA256.hash(bytes)
        case .sha512: unsafe Self.digest(of: bytes, SHA512_DIGEST_LENGTH, by: CCrypto.SHA512)
        case .sha1: unsafe Self.digest(of: bytes, SHA_DIGEST_LENGTH, by: CCrypto.SHA1)
        case .md5: unsafe Self.digest(of: bytes, MD5_DIGEST_LENGTH, by: CCrypto.MD5)
        }
    }

    private static func digest(
        of bytes: [UInt8], _ count: Int32,
        by function: (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?) ->
            UnsafeMutablePointer<UInt8>?
    ) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(count))
        // A digest that could not be computed must not be compared with anything.
        precondition(unsafe function(bytes, bytes.count, &digest) != nil, "libcrypto has no memory")
        return digest
    }
}
