// SPDX-License-Identifier: Apache-2.0

/// An animation whose frames we put together, since libvips does not, or not as browsers do.
protocol FramedAnimation {
    /// What its frames are packed as.
    static var format: ImageFormat { get }
    /// The size of all of it.
    var canvas: PixelSize { get }
    /// The frames in the order they are shown; at least one.
    var frames: [AnimationFrame] { get }
    /// Milliseconds and plays.
    var timing: AnimationTiming { get }

    /// A frame as a file of its own.
    func still(_ index: Int, in file: UnsafeRawBufferPointer) -> [UInt8]
}

extension FramedAnimation {
    /// The frames that are asked for, by their numbers.
    func range(of selection: FrameSelection) -> Range<Int> {
        switch selection {
        case .primary: 0..<1
        case .single(let index): min(index, frames.count - 1)..<min(index, frames.count - 1) + 1
        case .all: 0..<frames.count
        }
    }
}

/// One frame of an animation, as it lies packed in a file.
struct AnimationFrame: Equatable {
    /// Where it lies on the canvas.
    let place: PixelRectangle
    /// Milliseconds that it stays.
    let delay: Int
    /// What becomes of its place afterwards.
    let disposal: Disposal
    /// Whether it is laid over what is there, or put in its place.
    let isLaidOver: Bool
    /// Its packed pixels.
    var data: [Range<Int>] = []

    /// What becomes of a frame's place before the next one comes.
    enum Disposal: Int {
        case stays, cleared, restored
    }
}
