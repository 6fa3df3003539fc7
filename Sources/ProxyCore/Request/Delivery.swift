// SPDX-License-Identifier: Apache-2.0

package import Freshness
package import Primitives
package import URLs

/// The part of a request that does not affect the picture's bytes: how it is looked up and stored, and the
/// fields of the answer.
///
/// Not part of any key.
package struct Delivery: Sendable, Hashable {
    /// How the image is looked up and stored.
    package var options: ImageOptions = []
    /// Names under which the source and the result can be purged; each 1 to 64 of `[A-Za-z0-9_.:-]`.
    package var tags: [String] = []
    /// The file name under which a browser saves the image; no path, no control characters.
    package var filename: String?
    /// Whether a browser saves the image instead of showing it.
    package var isDownload = false
    /// The configured image that is served if the source fails.
    package var placeholder: String?
    /// The preset that the request names.
    package var preset: String?
    /// When the URL expires, in seconds since 1970.
    package var expires: Int64?

    /// Where the client is sent if there is no image, by another proxy's URL.
    package var redirect: SourceURL?
    /// Whether the image is sent as the text of a data URL (RFC 2397), by another proxy's URL.
    package var isDataURL = false
    /// Whether the answer names the image's size in fields, as another proxy does.
    package var namesSize = false
    /// Whether a field of the request permits it: no other request for the same target is answered by this one's
    /// answer, here or by a shared cache.
    package var isPermittedByField = false

    /// The priority of its fetch; nil if the request has none.
    package var priority: FetchPriority?

    /// The maximum number of tags of one request.
    static let maxTags = 16

    /// The maximum number of bytes of a tag.
    static let maxTagBytes = 64

    /// Whether `text` is a valid tag.
    package static func isTag(_ text: some StringProtocol) -> Bool {
        (1...maxTagBytes).contains(text.utf8.count) && text.utf8.allSatisfy(isTagByte)
    }

    private static func isTagByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Creates the default delivery.
    package init() {}
}
