// SPDX-License-Identifier: Apache-2.0

/// What a request for an image leads to.
package enum ImageAnswer: Sendable {
    /// The whole image.
    case whole(ImageResponse)
    /// An image whose bytes go out while they are received from its origin.
    case streaming(StreamingImage)
}
