// SPDX-License-Identifier: Apache-2.0

/// The colour description in an AV1 bitstream's sequence header (AV1 specification §5.5).
struct AV1SequenceHeader: Equatable {
    /// Whether levels use the full range, instead of 16 to 235 of 255.
    let isFullRange: Bool
    /// The matrix coefficients, which convert samples to colours (ITU-T H.273 §8.3).
    let matrix: Int

    /// Samples are green, blue and red.
    static let identityMatrix = 0
    private static let unspecified = 2

    /// Reads the first sequence header of a list of open bitstream units (§5.3); nil if none is near the
    /// beginning.
    ///
    /// - Parameter units: the units from their first byte on.
    init?(units: BoxReader) {
        var units = units
        for _ in 0..<Self.unitLimit {
            guard let head = units.number(1), head & 4 == 0 || units.skip(1) != nil else { return nil }
            let length = head & 2 == 0 ? units.rest : Self.length(&units)
            guard let length, let body = units.part(from: units.place, length: length) else { return nil }
            if head >> 3 & 15 == Self.sequenceUnit {
                self.init(body)
                return
            }
            guard units.skip(length) != nil else { return nil }
        }
        return nil
    }

    /// The sequence header is the first unit, or follows a temporal delimiter.
    private static let unitLimit = 8
    private static let sequenceUnit = 1

    /// Reads a number of seven bits per byte, the lowest first (§4.10.5).
    private static func length(_ units: inout BoxReader) -> Int? {
        var value = 0
        for index in 0..<4 {
            guard let byte = units.number(1) else { return nil }
            value |= (byte & 0x7F) << (index * 7)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    private init?(_ body: BoxReader) {
        var bits = BitReader(body, isHighestFirst: true)
        let profile = bits.take(3)
        bits.skip(1)
        let isReduced = bits.flag()
        if isReduced { bits.skip(5) } else { Self.skipOperation(&bits) }
        let widthLength = bits.take(4) + 1
        let heightLength = bits.take(4) + 1
        bits.skip(widthLength + heightLength)
        if !isReduced, bits.flag() { bits.skip(7) }
        bits.skip(3)
        if !isReduced { Self.skipTools(&bits) }
        bits.skip(3)
        // From here on as in §5.5.2.
        let isDeep = bits.flag()
        if profile == 2, isDeep { bits.skip(1) }
        let isGrey = profile != 1 && bits.flag()
        let isPresent = bits.flag()
        let code =
            isPresent
            ? [bits.take(8), bits.take(8), bits.take(8)] : [Int](repeating: Self.unspecified, count: 3)
        let isFull = code == Self.sRGB && !isGrey || bits.flag()
        guard !bits.isExhausted else { return nil }
        isFullRange = isFull
        matrix = code[2]
    }

    /// The primaries, transfer and matrix that imply full range.
    private static let sRGB = [1, 13, identityMatrix]

    /// Skips timing and operating points.
    private static func skipOperation(_ bits: inout BitReader) {
        var delayLength: Int?
        if bits.flag() {
            bits.skip(64)
            if bits.flag() { bits.skipUnary() }
            if bits.flag() {
                delayLength = bits.take(5) + 1
                bits.skip(42)
            }
        }
        let hasDelays = bits.flag()
        for _ in 0...bits.take(5) {
            bits.skip(12)
            if bits.take(5) > 7 { bits.skip(1) }
            if let delayLength, bits.flag() { bits.skip(2 * delayLength + 1) }
            if hasDelays, bits.flag() { bits.skip(4) }
        }
    }

    /// Skips the fields for moving pictures.
    private static func skipTools(_ bits: inout BitReader) {
        bits.skip(4)
        let hasOrder = bits.flag()
        if hasOrder { bits.skip(2) }
        let mayBeScreen = bits.flag() || bits.flag()
        if mayBeScreen, !bits.flag() { bits.skip(1) }
        if hasOrder { bits.skip(3) }
    }
}

extension BitReader {
    fileprivate mutating func flag() -> Bool { take(1) == 1 }

    /// Skips a number whose length is given by leading zeros (§4.10.3).
    fileprivate mutating func skipUnary() {
        var zeros = 0
        while !isExhausted, zeros < 32, !flag() { zeros += 1 }
        if zeros < 32 { skip(zeros) }
    }
}
