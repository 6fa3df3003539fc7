// SPDX-License-Identifier: Apache-2.0

/// The state that the operations of one run share: the limits, and the first frame's decisions for all
/// frames.
package struct TransformContext {
    /// The maximum number of pixels of all frames together after an operation.
    let maxPixels: Int
    /// The longest side after an operation, in pixels.
    let maxSide: Int
    /// The number of frames that will be processed.
    let frames: Int
    /// The configured overlay images by name, encoded.
    let overlays: [String: [UInt8]]
    /// Whether `resize` resamples linear light instead of encoded levels.
    package var isLinear = false
    /// What lengths of borders and overlays are multiplied by, since a `resize` has been so.
    var density = 1.0
    /// The picture's size before any operation.
    var source: PixelSize?
    /// What the last `trim` has cut off on the left and at the top.
    var trimmed = (left: 0, top: 0)
    /// The index of the running operation in the pipeline.
    var operation = 0
    private let made = SharedImages()
    /// The rectangles that the first frame chose, by operation.
    private var chosen: [Int: PixelRectangle] = [:]

    /// Creates the context of a run.
    package init(maxPixels: Int, maxSide: Int, frames: Int, overlays: [String: [UInt8]] = [:]) {
        self.maxPixels = maxPixels
        self.maxSide = maxSide
        self.frames = frames
        self.overlays = overlays
    }

    /// Throws `tooManyPixels` for a picture beyond the limits.
    package func check(_ size: PixelSize) throws(ImagingError) {
        guard size.width <= maxSide, size.height <= maxSide else {
            throw .tooManyPixels("the result would be \(size), limits.side is \(maxSide)")
        }
        guard size.area * frames <= maxPixels else {
            throw .tooManyPixels(
                "the result would be \(size.pixels(frames: frames)), limits.outputPixels is \(maxPixels)")
        }
    }

    /// The rectangle that the running operation chose on the first frame; nil before.
    var rectangle: PixelRectangle? {
        get { chosen[operation] }
        set { chosen[operation] = newValue }
    }

    /// Returns a picture that the running operation makes once for all frames, which have one size then.
    ///
    /// - Parameter part: distinguishes the operation's pictures.
    func once(
        _ part: Int = 0, _ make: () throws(ImagingError) -> VipsImage
    ) throws(ImagingError) -> VipsImage {
        try made.image(.init(operation: operation, part: part), make)
    }

    /// Returns a configured image, upright, as sRGB with alpha, in memory.
    ///
    /// An error in it is not the source's, and must not be remembered for the source.
    func overlay(named name: String) throws(ImagingError) -> VipsImage {
        // By its name: several operations draw one image.
        try made.image(.init(operation: 0, part: 0, name: name)) { () throws(ImagingError) in
            try decodedOverlay(named: name)
        }
    }

    private func decodedOverlay(named name: String) throws(ImagingError) -> VipsImage {
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

/// The pictures that operations make once for all frames of an animation: watermarks, text, masks. Used by
/// one run, and so by one thread.
final class SharedImages {
    /// Identifies a picture of an operation.
    struct Key: Equatable {
        let operation: Int
        let part: Int
        /// The name of a configured image as it was decoded; empty for a picture of an operation.
        var name = ""
    }

    private var keys: [Key] = []
    private var images = FrameStrip()

    /// Returns the picture of `key`, which `make` creates on the first call.
    func image(
        _ key: Key, _ make: () throws(ImagingError) -> VipsImage
    ) throws(ImagingError) -> VipsImage {
        if let index = keys.firstIndex(of: key) { return try images.frame(index) }
        let image = try make()
        keys.append(key)
        images.append(image)
        return image
    }
}
