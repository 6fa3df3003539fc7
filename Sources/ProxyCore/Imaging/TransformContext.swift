// SPDX-License-Identifier: Apache-2.0

/// What the operations of one run share: the limits, and what the first frame decided for all.
struct TransformContext {
    /// Most pixels that all frames together may have after an operation.
    let maxPixels: Int
    /// Longest side after an operation, in pixels.
    let maxSide: Int
    /// The number of frames that will be processed.
    let frames: Int
    /// Images that may be laid over, by name: encoded, as configured.
    let overlays: [String: [UInt8]]
    /// Whether `resize` mixes light as it adds up, and not as it is encoded.
    var isLinear = false
    /// The index of the running operation in the pipeline.
    var operation = 0
    private let made = OnceMade()
    /// Rectangles that the first frame chose, by operation.
    private var chosen: [Int: PixelRectangle] = [:]

    /// Starts a run.
    init(maxPixels: Int, maxSide: Int, frames: Int, overlays: [String: [UInt8]] = [:]) {
        self.maxPixels = maxPixels
        self.maxSide = maxSide
        self.frames = frames
        self.overlays = overlays
    }

    /// Throws `tooManyPixels` for a picture beyond the limits.
    func check(_ size: PixelSize) throws(ImagingError) {
        guard size.width <= maxSide, size.height <= maxSide else { throw .tooManyPixels }
        guard size.area * frames <= maxPixels else { throw .tooManyPixels }
    }

    /// The rectangle that the running operation chose on the first frame; nil when it has not chosen yet.
    var rectangle: PixelRectangle? {
        get { chosen[operation] }
        set { chosen[operation] = newValue }
    }

    /// Returns what the running operation makes once for all frames, which have one size then.
    ///
    /// - Parameter part: tells its pictures apart.
    func once(
        _ part: Int = 0, _ make: () throws(ImagingError) -> VipsImage
    ) throws(ImagingError) -> VipsImage {
        try made.image(.init(operation: operation, part: part), make)
    }

    /// Returns a configured image, upright, as sRGB with alpha, in memory.
    ///
    /// What is wrong with it is not the source's fault, and must not be remembered of that.
    func overlay(named name: String) throws(ImagingError) -> VipsImage {
        guard let bytes = overlays[name], let format = ImageFormat(sniffing: bytes),
            let source = VipsSource.copy(of: bytes)
        else { throw .overlayUnreadable(name) }
        do throws(ImagingError) {
            let image = try VipsCoder.open(source, as: format, frames: .primary, shrink: .none)
            try check(image.size)
            let upright = image.orientation == 1 ? image : try image.oriented(by: image.orientation)
            return try upright.inEightBits().inSRGB(keepsGrey: false).withAlpha().inMemory()
        } catch .badImageData(let text) {
            throw .overlayUnreadable("\(name): \(text)")
        } catch .unsupportedFormat(let text) {
            throw .overlayUnreadable("\(name): \(text)")
        }
    }
}
