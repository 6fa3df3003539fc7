// SPDX-License-Identifier: Apache-2.0

/// A GIF file whose frames libvips would compose differently from browsers: for cleared and uncovered areas
/// browsers show transparency, but libvips the background colour, or black; and libvips shows wrong rows of
/// interlaced frames that exceed the screen.
struct GIFAnimation: FramedAnimation, Equatable {
    static let format = ImageFormat.gif
    /// The logical screen's size; larger if the first frame exceeds it.
    let canvas: PixelSize
    /// The frames in the order they are shown; a still has one.
    let frames: [AnimationFrame]
    /// The delays; libvips reads the number of plays.
    var timing: AnimationTiming { AnimationTiming(delays: frames.map(\.delay), loop: 0) }

    /// The end of the logical screen descriptor (GIF89a §18), which follows the signature.
    private static let headEnd = 13
    private static let descriptorLength = 10
    /// Frames beyond this number are not counted: no limit allows as many.
    private static let frameLimit = 65_536
    private static let hasTable: UInt8 = 0x80
    private static let trailer: UInt8 = 0x3B

    /// How many times larger than the canvas a frame that exceeds it may be: all its pixels are decoded.
    private static let excess = 2
    /// The number of pixels that a frame may always have, also on a smaller canvas.
    private static let smallFrame = 65_536

    /// Reads the blocks up to the first invalid one; nil for a file that libvips composes correctly, for one
    /// that ends within a block, and for one with a frame that is much larger than its screen. O(bytes ÷
    /// 255).
    init?(_ file: UnsafeRawBufferPointer) {
        guard file.count >= Self.headEnd, unsafe file.starts(with: "GIF8".utf8) else { return nil }
        var canvas = unsafe PixelSize(Self.short(file, 6), Self.short(file, 8))
        var blocks = unsafe Blocks(file: file, place: Self.headEnd)
        let shared = unsafe blocks.table(file[10])
        var frames: [AnimationFrame] = []
        var control: Control?
        var isWrong = false
        var hasTransparency = false
        while let block = blocks.next() {
            guard case .image(let whole, let hasOwnTable) = block else {
                if case .control(let new) = block { control = new }
                continue
            }
            let place = unsafe Self.place(file, whole.lowerBound)
            // As in browsers, only the first frame enlarges the canvas.
            if frames.isEmpty { canvas = canvas.including(place) }
            if place.clamped(to: canvas) != place { isWrong = true }
            guard unsafe Self.short(file, whole.lowerBound + 5) > 0,
                unsafe Self.short(file, whole.lowerBound + 7) > 0,
                place.size.area <= max(canvas.area * Self.excess, Self.smallFrame),
                !shared.isEmpty || hasOwnTable, frames.count < Self.frameLimit
            else { return nil }
            if let last = frames.last, last.disposal == .cleared, !last.isLaidOver { isWrong = true }
            hasTransparency = hasTransparency || control?.isTransparent == true
            frames.append(
                AnimationFrame(
                    place: place, delay: control?.delay ?? 0, disposal: control?.disposal ?? .stays,
                    isLaidOver: control?.isTransparent == true,
                    data: [shared, control?.whole ?? 0..<0, whole]))
            control = nil
        }
        guard !blocks.isCut, let first = frames.first else { return nil }
        let showsGround =
            first.place.size != canvas || first.disposal == .restored && frames.count > 1
        guard isWrong || showsGround && !hasTransparency else { return nil }
        self.canvas = canvas
        self.frames = frames
    }

    /// The maximum number of pixels of a screen whose frames may have any size.
    private static let freeArea = 4_000_000
    /// How many times larger than its largest frame any other screen may be.
    private static let emptiness = 64

    /// Throws for a file that ends within a block, of which decoders show a part, and for one whose frames
    /// are tiny compared with its screen. O(bytes ÷ 255).
    static func check(_ file: UnsafeRawBufferPointer) throws(ImagingError) {
        guard file.count >= headEnd, unsafe file.starts(with: "GIF8".utf8) else { return }
        var blocks = unsafe Blocks(file: file, place: headEnd)
        _ = unsafe blocks.table(file[10])
        var largest = 0
        var isFrameToCome = false
        while let block = blocks.next() {
            if case .control = block { isFrameToCome = true }
            guard case .image(let whole, _) = block else { continue }
            isFrameToCome = false
            largest = unsafe max(largest, place(file, whole.lowerBound).size.area)
        }
        guard !blocks.isCut, !isFrameToCome || blocks.place < file.count else {
            throw .badImageData("a GIF that breaks off")
        }
        let area = unsafe PixelSize(short(file, 6), short(file, 8)).area
        guard area <= freeArea || !blocks.areWhole || area / emptiness <= largest else {
            throw .badImageData("a GIF of nothing but its screen")
        }
    }

    private static func short(_ file: UnsafeRawBufferPointer, _ place: Int) -> Int {
        unsafe file.number(at: place, length: 2, .littleEndian) ?? 0
    }

    private static func place(_ file: UnsafeRawBufferPointer, _ start: Int) -> PixelRectangle {
        let size = unsafe PixelSize(short(file, start + 5), short(file, start + 7))
        return unsafe PixelRectangle(left: short(file, start + 1), top: short(file, start + 3), size: size)
    }

    /// Returns a frame as a file of its own, without a background.
    func still(_ index: Int, in file: UnsafeRawBufferPointer) -> [UInt8] {
        let size = frames[index].place.size
        let sides = [size.width, size.height].flatMap { ByteOrder.littleEndian.bytes(of: $0, length: 2) }
        var bytes = unsafe Array("GIF89a".utf8) + sides + [file[10], 0, 0]
        let data = frames[index].data
        for range in data.dropLast() { unsafe bytes += file[range] }
        let start = bytes.count
        if let image = data.last { unsafe bytes += file[image] }
        // The frame's corner on the screen (§20).
        bytes.replaceSubrange(start + 1..<start + 5, with: repeatElement(0, count: 4))
        return bytes + [Self.trailer]
    }

    /// A graphic control extension, which applies to the frame after it (§23).
    private struct Control {
        let delay: Int
        let disposal: AnimationFrame.Disposal
        let isTransparent: Bool
        /// Its byte range in the file.
        let whole: Range<Int>

        /// Reads it from its introducer on; nil if it is too short.
        init?(_ file: UnsafeRawBufferPointer, _ whole: Range<Int>) {
            guard whole.count >= 8 else { return nil }
            let flags = unsafe file[whole.lowerBound + 3]
            isTransparent = flags & 1 == 1
            delay = unsafe GIFAnimation.short(file, whole.lowerBound + 4) * 10
            switch flags >> 2 & 7 {
            case 2: disposal = .cleared
            // The fourth value is undefined; browsers and libvips treat it as the third.
            case 3, 4: disposal = .restored
            default: disposal = .stays
            }
            self.whole = whole
        }
    }

    private enum Block {
        case image(whole: Range<Int>, hasTable: Bool)
        case control(Control?)
        case other
    }

    /// Iterates over the blocks of a file.
    @safe private struct Blocks {
        let file: UnsafeRawBufferPointer
        /// The start of the next block.
        var place: Int
        /// Whether all blocks so far were complete.
        private(set) var areWhole = true
        /// Whether a block ends beyond the file.
        private(set) var isCut = false

        /// Skips a colour table if the flags announce one, and returns its range.
        mutating func table(_ flags: UInt8) -> Range<Int> {
            let length = flags & GIFAnimation.hasTable == 0 ? 0 : 3 << (Int(flags & 7) + 1)
            defer { place += length }
            return place..<place + length
        }

        /// Returns nil at the trailer, at the end, and at invalid bytes.
        mutating func next() -> Block? {
            let start = place
            guard unsafe place <= file.count else { return cut() }
            guard unsafe place < file.count, unsafe file[place] != GIFAnimation.trailer else { return nil }
            switch unsafe file[place] {
            case 0x21:
                place += 2
                guard skipData() else { return cut() }
                return unsafe file[start + 1] == 0xF9 ? .control(Control(file, start..<place)) : .other
            case 0x2C:
                place += GIFAnimation.descriptorLength
                guard unsafe place < file.count else { return cut() }
                let own = unsafe table(file[start + 9])
                // The code size precedes the data.
                place += 1
                guard skipData() else { return cut() }
                return .image(whole: start..<place, hasTable: !own.isEmpty)
            default:
                areWhole = false
                return nil
            }
        }

        /// Skips sub-blocks (§15) and their terminator.
        private mutating func skipData() -> Bool {
            while unsafe place < file.count {
                let length = unsafe Int(file[place])
                place += length + 1
                if length == 0 { return true }
            }
            return false
        }

        private mutating func cut() -> Block? {
            isCut = true
            areWhole = false
            return nil
        }
    }
}

extension PixelSize {
    /// The size of a canvas with the same corner that also contains a rectangle.
    fileprivate func including(_ place: PixelRectangle) -> PixelSize {
        PixelSize(max(width, place.left + place.size.width), max(height, place.top + place.size.height))
    }
}
