// SPDX-License-Identifier: Apache-2.0

import HTTPServer
package import Imaging
import Primitives

/// An image that is sent in place of a source that fails (SDWebImage: placeholder). Configuration:
/// `placeholders`.
package struct Placeholder: Sendable {
    /// The file's bytes.
    package let bytes: [UInt8]
    /// Their format, by the magic bytes.
    package let format: ImageFormat

    /// The maximum size of the file; it stays in memory.
    package static let maxBytes = 4 << 20

    /// Why a file can't be a placeholder.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Checks a file's bytes: a raster image that browsers show.
    package init(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.count <= Self.maxBytes else {
            throw Failure(description: "larger than \(ByteCount(Self.maxBytes))")
        }
        guard let format = ImageFormat(sniffing: bytes), format.traits.isShownByBrowsers else {
            throw Failure(description: "none of \(ImageFormat.titlesShownByBrowsers)")
        }
        self.bytes = bytes
        self.format = format
    }

    /// Replaces a problem document by the image; the status stays the error's own.
    func replaceDocument(of response: inout HTTPResponse) {
        response.fields.set(.contentType, text: format.traits.mediaType)
        response.fields.append(.contentDisposition, text: "inline")
        response.fields.append(.contentSecurityPolicy, text: "default-src 'none'; sandbox")
        response.fields.append(.crossOriginResourcePolicy, text: "cross-origin")
        response.body = .bytes(bytes)
    }
}
