// SPDX-License-Identifier: Apache-2.0

/// The size of a resize with a least size, a zoom or a density: how many pixels of the picture become one.
struct ResizeFactors {
    private let resize: Resize
    private let wanted: SizeRequest?
    private let source: PixelSize
    private let density: Double
    private let scaled: PixelSize

    init(_ resize: Resize, _ wanted: SizeRequest?, _ source: PixelSize) {
        self.resize = resize
        self.wanted = wanted
        self.source = source
        var (x, y) = Self.shrink(resize, wanted, source)
        x /= resize.zoom.x
        y /= resize.zoom.y
        var density = resize.wantedDensity
        if !resize.mayEnlarge {
            let least = min(x, y)
            if least < 1 {
                x /= least
                y /= least
                density /= least
            }
            density = min(density, x, y)
        }
        Self.raise(&x, &y, to: resize.minimum.width, of: source.width)
        Self.raise(&y, &x, to: resize.minimum.height, of: source.height)
        self.density = density
        // Of the shrinking, not of the enlarging: what comes to half a pixel depends on it.
        scaled = PixelSize(
            rounding: Double(source.width) * (1 / min(x / density, Double(source.width))),
            by: Double(source.height) * (1 / min(y / density, Double(source.height))))
    }

    /// Before zoom, density and least sizes.
    private static func shrink(
        _ resize: Resize, _ wanted: SizeRequest?, _ source: PixelSize
    ) -> (x: Double, y: Double) {
        guard let wanted else { return (1, 1) }
        let horizontal = wanted.width.map { Double(source.width) / max(1, $0.pixels(of: source.width)) }
        let vertical = wanted.height.map { Double(source.height) / max(1, $0.pixels(of: source.height)) }
        guard let horizontal, let vertical else {
            let only = horizontal ?? vertical ?? 1
            return (only, only)
        }
        switch resize.mode(for: wanted.resolved(for: source), of: source) {
        case .fit:
            let both = max(horizontal, vertical)
            return (both, both)
        case .cover, .crop, .auto, .outside:
            let both = min(horizontal, vertical)
            return (both, both)
        case .fill: return (horizontal, vertical)
        }
    }

    /// Lowers one factor for a least side, and the other one with it.
    private static func raise(_ factor: inout Double, _ other: inout Double, to least: Length?, of side: Int)
    {
        guard let least else { return }
        let most = Double(side) / max(1, least.pixels(of: side))
        guard most < factor else { return }
        other /= factor / most
        factor = most
    }

    var plan: Resize.Plan {
        Resize.Plan(
            scaled: scaled, cut: resize.mode == .outside ? scaled : cut, source: source, density: density)
    }

    /// The wanted sides, as far as the picture reaches.
    private var cut: PixelSize {
        let width = wanted?.width.map { side($0, of: source.width, resize.zoom.x) }
        let height = wanted?.height.map { side($0, of: source.height, resize.zoom.y) }
        let reached = PixelSize(
            min(width ?? scaled.width, scaled.width), min(height ?? scaled.height, scaled.height))
        // Without enlarging, the aspect is kept in place of the size.
        guard resize.mode == .cover, !resize.mayEnlarge, let width, let height else { return reached }
        let horizontal = Double(width) / Double(scaled.width)
        let vertical = Double(height) / Double(scaled.height)
        if horizontal > vertical, horizontal > 1 {
            let kept = Double(scaled.width) * Double(height) / Double(width)
            return PixelSize(scaled.width, min(scaled.height, Int(kept.rounded())))
        }
        if vertical > horizontal, vertical > 1 {
            let kept = Double(scaled.height) * Double(width) / Double(height)
            return PixelSize(min(scaled.width, Int(kept.rounded())), scaled.height)
        }
        return reached
    }

    private func side(_ length: Length, of side: Int, _ zoom: Double) -> Int {
        max(1, Int((length.pixels(of: side) * (density * zoom)).rounded()))
    }
}

extension PixelSize {
    /// The smaller of each side.
    func smaller(_ other: PixelSize) -> PixelSize {
        PixelSize(min(width, other.width), min(height, other.height))
    }
}
