// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// A configured image that `watermark` draws over others. Configuration: `watermarks`.
///
/// Part of the plan that names it. Its encoded form omits the bytes: they reach a worker by a descriptor.
package struct WatermarkImage: Sendable, Hashable, Codable {
    /// The name in the configuration.
    package let name: String
    /// The SHA-256 of the bytes in hexadecimal, so that a changed file gives other results.
    package let digest: String
    /// The encoded picture; empty after decoding.
    package private(set) var bytes: [UInt8] = []

    /// The maximum number of bytes of one.
    package static let maxBytes = 4 << 20
    /// The maximum number of different ones in one pipeline.
    package static let maxPerPipeline = 4

    private enum CodingKeys: String, CodingKey {
        case name, digest
    }

    /// Creates a watermark from an encoded picture.
    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        digest = SHA256.hash(bytes).hexadecimal
    }

    /// Compares digests.
    package static func == (left: WatermarkImage, right: WatermarkImage) -> Bool {
        left.name == right.name && left.digest == right.digest
    }

    /// Hashes the digest.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(digest)
    }

    /// The same with its bytes, as a worker has received them.
    package func holding(_ bytes: [UInt8]) -> WatermarkImage {
        var image = self
        image.bytes = bytes
        return image
    }
}
