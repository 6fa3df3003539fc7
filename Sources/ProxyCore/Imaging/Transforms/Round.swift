// SPDX-License-Identifier: Apache-2.0

/// `round:20` — rounds corners, optionally with a border.
struct Round: ImageTransforming {
    static let name = "round"
    static let summary = "Rounds corners, with a border along the edge if wanted."
    static let parameters = [radius, corners, border, color, vertical, outside]

    private static let lengthRange = 0...100_000
    private static let maximal = "max"
    private static let allCorners = ["tl", "tr", "bl", "br"]
    private static let radius = TransformParameter(
        "radius", .lengthOr(lengthRange, words: [maximal]), .required, isScaled: true,
        "The corners' radius; a percentage is of the shorter side, max means half of it.")
    private static let corners = TransformParameter(
        "corners", .words(allCorners), .value(.words(allCorners)), "Which corners are rounded.")
    private static let border = TransformParameter(
        "border", .length(lengthRange), .value(.length(.pixels(0))), isScaled: true,
        "The border's width; a percentage is of the shorter side.")
    private static let color = TransformParameter(
        "color", .color, .value(.color(.black)), "The border's colour.")
    private static let vertical = TransformParameter(
        "ry", .length(lengthRange), .absent, isScaled: true,
        "The corners' radius in height, for corners of ellipses: 'radius' is then that in width, each at most half of its side."
    )
    private static let outside = TransformParameter(
        "outside", .color, .absent,
        "The colour outside of the corners, which stay as opaque as they are; transparent if absent.")

    var cost: PixelCost { PixelCost(work: 5, memory: 4) }
    static let toleratesIntermediate = true
    var mayAddAlpha: Bool { true }

    let arguments: TransformArguments
    private let wantedRadius: Length?
    private let wantedHeight: Length?
    private let chosenCorners: Set<String>
    private let wantedBorder: Length?
    private let borderColor: PixelColor

    init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        wantedRadius = arguments.length(Self.radius)
        wantedHeight = arguments.length(Self.vertical)
        chosenCorners = arguments.words(Self.corners)
        wantedBorder = arguments.length(Self.border)
        borderColor = arguments.color(Self.color) ?? .black
        if wantedBorder != .pixels(0), wantedBorder != nil, arguments.color(Self.outside) != nil {
            throw arguments.error(.conflict(with: "border"), Self.outside)
        }
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let size = image.size
        let shorter = min(size.width, size.height)
        let half = Double(shorter) / 2
        let wide = wantedHeight == nil ? half : Double(size.width) / 2
        let across = min(wantedRadius?.pixels(of: shorter) ?? wide, wide)
        let down = wantedHeight.map { min($0.pixels(of: shorter), Double(size.height) / 2) } ?? across
        let border = min(wantedBorder?.pixels(of: shorter) ?? 0, half)
        let outer = shape(size, inset: 0, across, down)
        let cover = try context.once(0) { () throws(ImagingError) in
            try VipsImage.cover(outer.mask(on: size), size)
        }
        if let color = arguments.color(Self.outside) {
            return try Self.surrounded(image, inside: cover, by: color)
        }
        guard border > 0 else { return try image.masked(by: cover) }
        let inner = try context.once(1) { () throws(ImagingError) in
            try VipsImage.cover(
                shape(size, inset: border, max(0, across - border), max(0, down - border)).mask(on: size),
                size)
        }
        let ring = try context.once(2) { () throws(ImagingError) in
            let rest = zip(try cover.samples(), try inner.samples()).map { $0 - min($0, $1) }
            return try cover.uniform(borderColor).masked(by: VipsImage.cover(rest, size)).computed()
        }
        return try ring.completed(by: image.inColor().masked(by: inner))
    }

    /// Draws a colour where `cover` is not, and keeps the picture's alpha.
    private static func surrounded(
        _ image: borrowing VipsImage, inside cover: borrowing VipsImage, by color: PixelColor
    ) throws(ImagingError) -> VipsImage {
        let picture = try color.isGrey ? image.duplicate() : image.inColor()
        return try picture.onColors { colors throws(ImagingError) in
            try colors.masked(by: cover).flattened(onto: color)
        }
    }

    private func shape(
        _ size: PixelSize, inset: Double, _ across: Double, _ down: Double
    ) -> RoundedRectangle {
        RoundedRectangle(
            canvas: size, inset: inset, across: across, down: down, corners: chosenCorners)
    }
}
