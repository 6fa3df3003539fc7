// SPDX-License-Identifier: Apache-2.0

extension RenderPlan {
    /// The largest result that is inspected for few colours and flat runs, in pixels.
    private static let mostDrawingPixels = 2_000_000

    /// Whether a result of this size is inspected for few colours and flat runs, so that lossless WebP is
    /// tried, too: if the format is chosen automatically and the client accepts WebP.
    func mayTryLossless(_ size: PixelSize, frames: Int) -> Bool {
        guard case .automatic(let accepted) = format else { return false }
        return accepted.contains(.webp) && !isLossless && maxBytes == nil && frames == 1
            && size.area <= Self.mostDrawingPixels
            && max(size.width, size.height) <= ImageFormat.webp.row.maxSide
    }
}
