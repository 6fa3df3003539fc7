// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The scans and the size of a JPEG file (ITU-T T.81 §B.2), read without a decoder.
///
/// For each scan a decoder does as much work as for a whole picture, and likewise for a declared size without
/// bytes: it invents the rest.
struct JPEGScans: Equatable {
    /// The number of scans, counted up to one beyond the limit.
    private(set) var count = 0
    /// The minimum number of bytes of a picture of this size; 0 if unknown.
    private(set) var leastBytes = 0
    /// Width × height of the frame; nil without a frame.
    private(set) var pixels: Int?
    /// The frame's number of components; nil without a frame.
    private(set) var components: Int?
    /// The position of the frame's height, two bytes before its width; nil if a size up to the next multiple
    /// of eight would change the number of blocks, or without a frame.
    private(set) var growingSize: Int?

    /// The maximum number of scans: encoders write about ten.
    static let limit = 64

    private static let progressive: UInt8 = 0xC2
    /// The markers of frames, without those of tables between them (§B.1.1.3).
    private static let frames: Set<UInt8> = Set(0xC0...0xCF).subtracting([0xC4, 0xC8, 0xCC])
    private static let startOfScan: UInt8 = 0xDA
    private static let endOfImage: UInt8 = 0xD9
    /// The minimum number of bits of a block of 8 × 8 samples by its frame's marker: one for its mean, and
    /// one for its end, which many blocks share if they are refined later. Arithmetic coding may use fewer.
    private static let leastBits: [UInt8: Int] = [0xC0: 2, 0xC1: 2, 0xC2: 1]
    private static let blockSide = 8

    /// Reads from marker to marker. O(bytes).
    init(of file: UnsafeRawBufferPointer) {
        var place = 2
        // The number of components of the scan after which no decoder reads further.
        var whole: Int?
        while count <= Self.limit, let marker = unsafe Self.nextMarker(in: file, from: place) {
            let code = unsafe file[marker + 1]
            if code == Self.endOfImage { break }
            if code == Self.startOfScan { count += 1 }
            guard marker + 4 < file.count, let length = unsafe file.number(at: marker + 2, length: 2) else {
                break
            }
            // The single scan of a picture that is not progressive: no decoder reads after it.
            if code == Self.startOfScan, unsafe Int(file[marker + 4]) == whole { break }
            place = marker + 2 + max(2, length)
            if pixels == nil, Self.frames.contains(code),
                let height = unsafe file.number(at: marker + 5, length: 2),
                let width = unsafe file.number(at: marker + 7, length: 2)
            {
                pixels = width * height
                if place <= file.count {
                    let frame = unsafe UnsafeRawBufferPointer(rebasing: file[marker + 4..<place])
                    components = frame.count > 5 ? unsafe Int(frame[5]) : nil
                    growingSize = unsafe Self.mayGrow(frame) ? marker + 5 : nil
                }
            }
            if leastBytes == 0, let bits = Self.leastBits[code], place <= file.count {
                let frame = unsafe UnsafeRawBufferPointer(rebasing: file[marker + 4..<place])
                leastBytes = unsafe Self.blocks(of: frame) * bits / 8
                if code != Self.progressive, frame.count > 5 { whole = unsafe Int(frame[5]) }
            }
        }
    }

    /// The number of blocks of a frame, by its header (§B.2.2, §A.1.1).
    private static func blocks(of frame: UnsafeRawBufferPointer) -> Int {
        guard frame.count > 6, unsafe frame.count >= 6 + 3 * Int(frame[5]),
            let height = unsafe frame.number(at: 1, length: 2),
            let width = unsafe frame.number(at: 3, length: 2)
        else { return 0 }
        let factors = unsafe (0..<Int(frame[5])).map { component in
            let both = unsafe frame[6 + 3 * component + 1]
            return (across: Int(both >> 4), down: Int(both & 15))
        }
        let across = max(1, factors.map(\.across).max() ?? 1)
        let down = max(1, factors.map(\.down).max() ?? 1)
        return factors.reduce(0) { sum, factor in
            sum + side(width * factor.across, across) * side(height * factor.down, down)
        }
    }

    /// Whether all components have one sample for one, two or four of the finest component's: then each has
    /// the same number of blocks for all sizes up to the next multiple of eight.
    private static func mayGrow(_ frame: UnsafeRawBufferPointer) -> Bool {
        guard frame.count > 6, unsafe frame.count >= 6 + 3 * Int(frame[5]) else { return false }
        return unsafe (0..<Int(frame[5])).allSatisfy { component in
            let both = unsafe frame[6 + 3 * component + 1]
            return [1, 2, 4].contains(both >> 4) && [1, 2, 4].contains(both & 15)
        }
    }

    /// The number of blocks for `samples` that are subsampled by `factor`.
    private static func side(_ samples: Int, _ factor: Int) -> Int {
        let whole = blockSide * factor
        return (samples + whole - 1) / whole
    }

    /// The next 0xFF with a marker that can't occur within a scan.
    private static func nextMarker(in file: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var place = start
        while place + 1 < file.count, let base = file.baseAddress {
            guard let found = unsafe memchr(base + place, 0xFF, file.count - place - 1) else { return nil }
            place = unsafe UnsafeRawPointer(found) - base
            let code = unsafe file[place + 1]
            if code != 0, code != 0xFF, code != 0x01, !(0xD0...0xD8).contains(code) { return place }
            place += code == 0xFF ? 1 : 2
        }
        return nil
    }
}
