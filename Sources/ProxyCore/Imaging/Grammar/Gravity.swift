// SPDX-License-Identifier: Apache-2.0

/// The part of a picture that a crop keeps.
package enum Gravity: Sendable, Hashable {
    /// By the fraction of the surplus that is cut on the left and at the top: 0, ½ or 1.
    case compass(Double, Double)
    /// The part that attracts attention: edges, skin, saturated colours.
    case attention
    /// The part with the most detail.
    case entropy
    /// Around a point, given as fractions of width and height.
    case focal(Double, Double)

    private static let compass: [String: Gravity] = [
        "center": .compass(0.5, 0.5), "north": .compass(0.5, 0), "northeast": .compass(1, 0),
        "east": .compass(1, 0.5), "southeast": .compass(1, 1), "south": .compass(0.5, 1),
        "southwest": .compass(0, 1), "west": .compass(0, 0.5), "northwest": .compass(0, 0),
    ]
    private static let places = [
        "center", "north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest",
    ]
    private static let words = places + ["smart", "entropy", "focal"]
    private static let middle = FixedNumber(thousandths: 500)

    /// The declaration of `gravity`.
    package static let parameter = TransformParameter(
        "gravity", .word(words), .value(.word("center")),
        "Which part stays of what is cut (by resize, mode=cover alone): a side or corner, smart (attention), entropy, "
            + "or focal with fx and fy.")
    /// The declaration of `gravity` for a smaller picture on a larger one.
    static let placement = placement(otherwise: "center")

    /// The same with another default.
    static func placement(otherwise word: String) -> TransformParameter {
        TransformParameter(
            "gravity", .word(places), .value(.word(word)), "Where it is placed: center, a side or a corner.")
    }

    /// Reads the parameter that `placement` declares.
    static func place(from arguments: TransformArguments) -> Gravity {
        let declared = arguments.parameters.first { $0.name == parameter.name }
        guard let declared, case .word(let word) = arguments[declared] else { return .compass(0.5, 0.5) }
        return compass[word] ?? .compass(0.5, 0.5)
    }

    /// The declaration of `fx`.
    static let focalX = TransformParameter(
        "fx", .number(0...1), .absent, "Horizontal focal point, 0–1 of the width; 0.5 when only fy is given.")
    /// The declaration of `fy`.
    static let focalY = TransformParameter(
        "fy", .number(0...1), .absent, "Vertical focal point, 0–1 of the height; 0.5 when only fx is given.")

    /// Reads the three parameters together.
    static func read(from arguments: TransformArguments) throws(TransformError) -> Gravity {
        let x = arguments.number(focalX)
        let y = arguments.number(focalY)
        guard case .word(let word) = arguments[parameter] else { return .compass(0.5, 0.5) }
        if word == "focal" { return .focal(x ?? middle.double, y ?? middle.double) }
        if x != nil { throw arguments.error(.conflict(with: "gravity=\(word)"), focalX) }
        if y != nil { throw arguments.error(.conflict(with: "gravity=\(word)"), focalY) }
        return word == "smart"
            ? .attention : word == "entropy" ? .entropy : compass[word] ?? .compass(0.5, 0.5)
    }

    /// The position of a rectangle of `wanted` in a picture of `size`; nil if it depends on the pixels.
    func rectangle(of wanted: PixelSize, in size: PixelSize) -> PixelRectangle? {
        let spareX = size.width - wanted.width
        let spareY = size.height - wanted.height
        switch self {
        case .compass(let x, let y):
            return PixelRectangle(left: Int(Double(spareX) * x), top: Int(Double(spareY) * y), size: wanted)
        case .focal(let x, let y):
            return PixelRectangle(
                left: Self.centred(at: x, wanted.width, size.width),
                top: Self.centred(at: y, wanted.height, size.height), size: wanted)
        case .attention, .entropy:
            return nil
        }
    }

    /// The position of the top left corner of a picture of `size` on a canvas; negative if the picture is
    /// larger.
    func placement(of size: PixelSize, on canvas: PixelSize) -> (left: Int, top: Int) {
        guard case .compass(let x, let y) = self else { return (0, 0) }
        return (
            Int((Double(canvas.width - size.width) * x).rounded(.down)),
            Int((Double(canvas.height - size.height) * y).rounded(.down))
        )
    }

    private static func centred(at fraction: Double, _ wanted: Int, _ available: Int) -> Int {
        let start = Int((fraction * Double(available) - Double(wanted) / 2 + 0.5).rounded(.down))
        return min(max(0, start), max(0, available - wanted))
    }

    /// Cuts `wanted`, which lies within the image; the first frame decides for all.
    func cut(
        _ image: borrowing VipsImage, to wanted: PixelSize, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        guard wanted != image.size else { return try image.duplicate() }
        if let rectangle = rectangle(of: wanted, in: image.size) { return try image.cropped(to: rectangle) }
        let ready = try image.inMemory()
        let rectangle: PixelRectangle
        if let known = context.rectangle {
            rectangle = known
        } else {
            rectangle = try ready.interestingRectangle(of: wanted, byEntropy: self == .entropy)
            context.rectangle = rectangle
        }
        return try ready.cropped(to: rectangle)
    }
}
