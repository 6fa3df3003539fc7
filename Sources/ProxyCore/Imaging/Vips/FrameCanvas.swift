// SPDX-License-Identifier: Apache-2.0

import CVips

/// The canvas on which an animation's frames are composed (PNG third edition §11.3.6, GIF89a §23): sRGB of 8
/// bits with alpha.
@safe struct FrameCanvas: ~Copyable {
    private let size: PixelSize
    /// All pixels, four samples each.
    private var pixels: [UInt8]
    private static let samples = 4

    /// Creates a transparent canvas.
    init(_ size: PixelSize) {
        self.size = size
        pixels = [UInt8](repeating: 0, count: size.area * Self.samples)
    }

    /// Creates the picture of the frames `range`, one below the other; without alpha if all of it is opaque.
    static func image(
        of animation: some FramedAnimation, frames range: Range<Int>, from source: borrowing VipsSource
    ) throws(ImagingError) -> VipsImage {
        let size = animation.canvas
        let length = size.area * samples * range.count
        guard let memory = unsafe g_try_malloc(gsize(length)) else {
            throw .outOfMemory("the frames of an animation")
        }
        let frameBuffer = unsafe UnsafeMutableRawBufferPointer(start: memory, count: length)
        let isOpaque: Bool
        do throws(ImagingError) {
            isOpaque = try unsafe fill(frameBuffer, animation, range, source)
        } catch {
            unsafe g_free(memory)
            throw error
        }
        let image = try unsafe VipsImage(
            adopting: shim_image_adopting(
                memory, length, CInt(size.width), CInt(size.height * range.count), CInt(samples)),
            isSequential: false)
        let own = try isOpaque ? image.colorBands() : image.duplicate()
        own.setFrames(range.count, height: size.height, timing: animation.timing)
        return own
    }

    /// Composes the frames; returns whether all pixels are opaque.
    private static func fill(
        _ frameBuffer: UnsafeMutableRawBufferPointer, _ animation: some FramedAnimation, _ range: Range<Int>,
        _ source: borrowing VipsSource
    ) throws(ImagingError) -> Bool {
        let frameBytes = animation.canvas.area * samples
        var isOpaque = true
        var canvas = FrameCanvas(animation.canvas)
        for index in 0..<range.upperBound {
            let frame = animation.frames[index]
            let before = frame.disposal == .restored ? canvas.pixels : []
            canvas.put(try pixels(of: index, of: animation, from: source), frame)
            if range.contains(index) {
                let start = (index - range.lowerBound) * frameBytes
                unsafe UnsafeMutableRawBufferPointer(rebasing: frameBuffer[start..<start + frameBytes])
                    .copyBytes(
                        from: canvas.pixels)
                isOpaque = isOpaque && canvas.isOpaque
            }
            canvas.dispose(of: frame, before)
        }
        return isOpaque
    }

    private var isOpaque: Bool {
        stride(from: 3, to: pixels.count, by: Self.samples).allSatisfy { pixels[$0] == .max }
    }

    /// Decodes one frame.
    private static func pixels(
        of index: Int, of animation: some FramedAnimation, from source: borrowing VipsSource
    ) throws(ImagingError) -> [UInt8] {
        let still = unsafe source.withBytes { unsafe animation.still(index, in: $0) }
        guard let opened = VipsSource.copy(of: still) else { throw .outOfMemory("a frame of an animation") }
        let image = try VipsCoder.open(
            opened, as: type(of: animation).format, frames: .primary, shrink: .none)
        guard image.size == animation.frames[index].place.size else {
            throw .badImageData("a frame of another size than is said")
        }
        return try image.inEightBits().inSRGB(keepsGrey: false).withAlpha().samples()
    }

    /// Draws a frame's pixels, as far as they are on the canvas.
    private mutating func put(_ frame: [UInt8], _ facts: AnimationFrame) {
        guard let shown = facts.place.clamped(to: size) else { return }
        let line = facts.place.size.width * Self.samples
        let first = (shown.left - facts.place.left) * Self.samples
        let width = shown.size.width * Self.samples
        for row in 0..<shown.size.height {
            let target = start(of: row, shown)
            let source = (shown.top - facts.place.top + row) * line + first
            guard facts.isLaidOver else {
                pixels.replaceSubrange(target..<target + width, with: frame[source..<source + width])
                continue
            }
            for offset in stride(from: 0, to: width, by: Self.samples) {
                lay(frame, source + offset, over: target + offset)
            }
        }
    }

    /// Blends one pixel over another, both not premultiplied (§13.16).
    private mutating func lay(_ frame: [UInt8], _ source: Int, over target: Int) {
        let alpha = Int(frame[source + 3])
        guard alpha > 0 else { return }
        guard alpha < 255 else {
            for band in 0..<Self.samples { pixels[target + band] = frame[source + band] }
            return
        }
        let below = Int(pixels[target + 3]) * (255 - alpha)
        let whole = alpha * 255 + below
        for band in 0..<3 {
            let sum = Int(frame[source + band]) * alpha * 255 + Int(pixels[target + band]) * below
            pixels[target + band] = UInt8((sum + whole / 2) / whole)
        }
        pixels[target + 3] = UInt8((whole + 127) / 255)
    }

    private mutating func dispose(of frame: AnimationFrame, _ before: [UInt8]) {
        switch frame.disposal {
        case .stays: break
        case .restored: pixels = before
        case .cleared:
            guard let shown = frame.place.clamped(to: size) else { return }
            let width = shown.size.width * Self.samples
            let nothing = [UInt8](repeating: 0, count: width)
            for row in 0..<shown.size.height {
                let target = start(of: row, shown)
                pixels.replaceSubrange(target..<target + width, with: nothing)
            }
        }
    }

    private func start(of row: Int, _ place: PixelRectangle) -> Int {
        ((place.top + row) * size.width + place.left) * Self.samples
    }
}
