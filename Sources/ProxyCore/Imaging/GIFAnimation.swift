// SPDX-License-Identifier: Apache-2.0

/// A GIF file whose frames libvips would put together in another way than browsers do: where a frame is cleared away and
/// where none has been, browsers show nothing, but libvips the background's colour, or black; and of interlaced frames that
/// leave the screen libvips shows other rows.
struct GIFAnimation: FramedAnimation, Equatable {
    static let format = ImageFormat.gif
    /// The logical screen's size; larger where the first frame leaves it.
    let canvas: PixelSize
    /// The frames in the order they are shown; a still has one.
    let frames: [AnimationFrame]
    /// Delays; how often it plays is left to libvips.
    var timing: AnimationTiming { AnimationTiming(delays: frames.map(\.delay), loop: 0) }

    /// Where the logical screen's descriptor ends (GIF89a §18), which follows the signature.
    private static let headEnd = 13
    private static let descriptorLength = 10
    /// Frames beyond this are not counted: no limit allows for so many.
    private static let frameLimit = 65_536
    private static let hasTable: UInt8 = 0x80
    private static let trailer: UInt8 = 0x3B

    /// How many times larger than the canvas a frame may be that leaves it: its pixels are all decoded.
    private static let excess = 2
    /// Pixels that a frame may have on however small a canvas.
    private static let smallFrame = 65_536

    /// Reads the blocks as far as they are some; nil for a file that libvips puts together rightly, for one that breaks off
    /// within a block, and for one with a frame that is much larger than its screen. O(bytes ÷ 255).
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
            // As in browsers: only the first frame makes the canvas larger.
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

    /// Most pixels of a screen on which frames may be as small as they like.
    private static let freeArea = 4_000_000
    /// How many times larger than its largest frame any other screen may be.
    private static let emptiness = 64

    /// Throws for a file that ends within a block, of which decoders show what there is, and for one whose frames are next to
    /// nothing of its screen. O(bytes ÷ 255).
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
        unsafe Int(file[place]) | Int(file[place + 1]) << 8
    }

    private static func place(_ file: UnsafeRawBufferPointer, _ start: Int) -> PixelRectangle {
        let size = unsafe PixelSize(short(file, start + 5), short(file, start + 7))
        return unsafe PixelRectangle(left: short(file, start + 1), top: short(file, start + 3), size: size)
    }

    /// A frame as a file of its own, without a background.
    func still(_ index: Int, in file: UnsafeRawBufferPointer) -> [UInt8] {
        let size = frames[index].place.size
        let sides = [size.width, size.height].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8 & 0xFF)] }
        var bytes = unsafe Array("GIF89a".utf8) + sides + [file[10], 0, 0]
        let data = frames[index].data
        for range in data.dropLast() { unsafe bytes += file[range] }
        let start = bytes.count
        if let image = data.last { unsafe bytes += file[image] }
        // Its corner on the screen (§20).
        bytes.replaceSubrange(start + 1..<start + 5, with: repeatElement(0, count: 4))
        return bytes + [Self.trailer]
    }

    /// What a graphic control extension says of the frame behind it (§23).
    private struct Control {
        let delay: Int
        let disposal: AnimationFrame.Disposal
        let isTransparent: Bool
        /// All of it in the file.
        let whole: Range<Int>

        /// Reads it from its introducer on; nil when it is shorter than it has to be.
        init?(_ file: UnsafeRawBufferPointer, _ whole: Range<Int>) {
            guard whole.count >= 8 else { return nil }
            let flags = unsafe file[whole.lowerBound + 3]
            isTransparent = flags & 1 == 1
            delay = unsafe GIFAnimation.short(file, whole.lowerBound + 4) * 10
            switch flags >> 2 & 7 {
            case 2: disposal = .cleared
            // The fourth is not defined; browsers and libvips take it for the third.
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

    /// The blocks of a file one after the other.
    @safe private struct Blocks {
        let file: UnsafeRawBufferPointer
        /// Where the next one begins.
        var place: Int
        /// Whether there has been nothing but whole blocks so far.
        private(set) var areWhole = true
        /// Whether one of them ends beyond the file.
        private(set) var isCut = false

        init(file: UnsafeRawBufferPointer, place: Int) {
            unsafe self.file = unsafe file
            self.place = place
        }

        /// Passes over a colour table, if the flags tell of one, and returns where it is.
        mutating func table(_ flags: UInt8) -> Range<Int> {
            let length = flags & GIFAnimation.hasTable == 0 ? 0 : 3 << (Int(flags & 7) + 1)
            defer { place += length }
            return place..<place + length
        }

        /// Returns nil at the trailer, at the end, and at what is no block.
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
                // The code's size comes before the data.
                place += 1
                guard skipData() else { return cut() }
                return .image(whole: start..<place, hasTable: !own.isEmpty)
            default:
                areWhole = false
                return nil
            }
        }

        /// Passes over sub-blocks (§15) and their terminator.
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
    /// The size of a canvas from the same corner on that holds a rectangle, too.
    fileprivate func including(_ place: PixelRectangle) -> PixelSize {
        PixelSize(max(width, place.left + place.size.width), max(height, place.top + place.size.height))
    }
}
