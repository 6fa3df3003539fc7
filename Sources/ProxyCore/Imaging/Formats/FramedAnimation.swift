// SPDX-License-Identifier: Apache-2.0

/// An animation whose frames the daemon composes, because libvips does not, or differs from browsers.
protocol FramedAnimation {
    /// The format of its encoded frames.
    static var format: ImageFormat { get }
    /// The size of the whole animation.
    var canvas: PixelSize { get }
    /// The frames in the order they are shown; at least one.
    var frames: [AnimationFrame] { get }
    /// The frames' delays and the number of plays.
    var timing: AnimationTiming { get }

    /// Returns a frame as a file of its own.
    func still(_ index: Int, in file: UnsafeRawBufferPointer) -> [UInt8]
}

extension FramedAnimation {
    /// Returns the indices of the selected frames.
    func range(of selection: FrameSelection) -> Range<Int> {
        switch selection {
        case .primary: 0..<1
        case .single(let index): min(index, frames.count - 1)..<min(index, frames.count - 1) + 1
        case .range(let range): range.clamped(to: 0..<frames.count)
        case .all: 0..<frames.count
        }
    }
}

/// One frame of an animation in its file.
struct AnimationFrame: Equatable {
    /// Its rectangle on the canvas.
    let place: PixelRectangle
    /// Its duration in milliseconds.
    let delay: Int
    /// The change to its rectangle after it was shown.
    let disposal: Disposal
    /// Whether it is blended over the canvas instead of replacing its rectangle.
    let isLaidOver: Bool
    /// The byte ranges of its encoded pixels.
    var data: [Range<Int>] = []

    /// The change to a frame's rectangle before the next frame.
    enum Disposal: Int {
        case stays, cleared, restored
    }
}
