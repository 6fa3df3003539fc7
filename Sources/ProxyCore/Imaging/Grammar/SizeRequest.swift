// SPDX-License-Identifier: Apache-2.0

/// A requested size, `WxH`, `Wx` or `xH`; an omitted side follows from the other.
package struct SizeRequest: Sendable, Hashable {
    /// The requested width; nil if it follows from the height.
    let width: Length?
    /// The requested height; nil if it follows from the width.
    let height: Length?

    private static let separator: Character = "x"

    /// Creates a size from its sides; nil without any.
    init?(width: Length?, height: Length?) {
        guard width != nil || height != nil else { return nil }
        self.width = width
        self.height = height
    }

    /// Parses two lengths with an `x` between them; one of them may be empty.
    init?(_ text: Substring) {
        let parts = text.split(
            separator: Self.separator, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let lengths = parts.map { $0.isEmpty ? nil : Length($0) }
        for (part, length) in zip(parts, lengths) where !part.isEmpty && length == nil { return nil }
        self.init(width: lengths[0], height: lengths[1])
    }

    /// The sides that are given.
    var sides: [Length] { [width, height].compactMap { $0 } }

    /// With both sides exchanged where one of the box and the picture is wider than high and the other higher than wide.
    func swapped(for picture: PixelSize) -> SizeRequest {
        guard width != nil, height != nil else { return self }
        let box = resolved(for: picture)
        guard (box.width - box.height) * (picture.width - picture.height) < 0 else { return self }
        return SizeRequest(
            width: .pixels(FixedNumber(box.height)), height: .pixels(FixedNumber(box.width))) ?? self
    }

    /// With sides in pixels that are at most those of a picture.
    func bounded(by picture: PixelSize) -> SizeRequest {
        SizeRequest(width: width?.bounded(by: picture.width), height: height?.bounded(by: picture.height))
            ?? self
    }

    /// Whether a picture is smaller than every given side.
    func exceeds(_ picture: PixelSize) -> Bool {
        let box = resolved(for: picture)
        return (width == nil || picture.width < box.width) && (height == nil || picture.height < box.height)
    }

    /// Multiplies the sides that are in pixels.
    func scaled(by factor: Double) -> SizeRequest {
        SizeRequest(width: width?.scaled(by: factor), height: height?.scaled(by: factor)) ?? self
    }

    /// The size of an image of `size` that fits into the given sides, each in whole pixels; the other side is rounded half up.
    func fitted(_ size: PixelSize) -> PixelSize {
        let wantedWidth = width.map { max(1, $0.roundedPixels(of: size.width)) }
        let wantedHeight = height.map { max(1, $0.roundedPixels(of: size.height)) }
        guard let wantedWidth else { return size.scaled(to: PixelSize(1, wantedHeight ?? 1), byWidth: false) }
        guard let wantedHeight else { return size.scaled(to: PixelSize(wantedWidth, 1), byWidth: true) }
        return size.fitting(into: PixelSize(wantedWidth, wantedHeight))
    }

    /// The factor by which an image of `size` fits into the given sides, each in whole pixels.
    func fitFactor(for size: PixelSize) -> Double {
        let factors = [(width, size.width), (height, size.height)].compactMap { wanted, side in
            wanted.map { Double(max(1, $0.roundedPixels(of: side))) / Double(side) }
        }
        return factors.min() ?? 1
    }

    /// Whether the given sides are in pixels.
    var isInPixels: Bool {
        sides.allSatisfy { if case .pixels = $0 { true } else { false } }
    }

    /// Returns the requested size in pixels for an image of `size`: rounded half up, at least 1 each.
    ///
    /// An omitted side keeps the image's aspect ratio.
    /// - Parameter down: whether it is rounded down instead.
    func resolved(for size: PixelSize, down: Bool = false) -> PixelSize {
        let less = down ? PixelSize.nearlyHalf : 0
        let aspect = Double(size.width) / Double(size.height)
        let wantedWidth = width?.pixels(of: size.width)
        let wantedHeight = height?.pixels(of: size.height)
        return PixelSize(
            rounding: (wantedWidth ?? (wantedHeight ?? 1) * aspect) - less,
            by: (wantedHeight ?? (wantedWidth ?? 1) / aspect) - less)
    }

    /// As `resolved(for:)`, but a half is rounded to the even number on a side that is left out.
    func resolvedEvenly(for size: PixelSize) -> PixelSize {
        let wantedWidth = width.map { max(1, $0.roundedPixels(of: size.width)) }
        let wantedHeight = height.map { max(1, $0.roundedPixels(of: size.height)) }
        return PixelSize(
            wantedWidth ?? Self.side(of: size.width, times: wantedHeight ?? 1, over: size.height),
            wantedHeight ?? Self.side(of: size.height, times: wantedWidth ?? 1, over: size.width))
    }

    private static func side(of side: Int, times factor: Int, over divisor: Int) -> Int {
        Int((Double(side * factor) / Double(divisor)).rounded(.toNearestOrEven))
    }
}

extension SizeRequest: CustomStringConvertible {
    package var description: String {
        "\(width?.description ?? "")\(Self.separator)\(height?.description ?? "")"
    }
}
