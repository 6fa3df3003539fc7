// SPDX-License-Identifier: Apache-2.0

import Primitives

/// `text:Good_morning:32:Serif:fff:south` — draws text.
package struct Text: ImageTransforming {
    package static let name = "text"
    package static let summary = "Draws text with Pango, broken into lines at the picture's width."
    package static let parameters = [
        text, size, font, color, Gravity.placement, OverlayPlacement.x, OverlayPlacement.y, encodedText, tile,
    ]

    /// The maximum number of bytes of a text.
    private static let limit = 1_000
    private static let text = TransformParameter(
        "text", .text(limit: limit), .absent, "The text; what the grammar does not allow goes into text64.")
    private static let size = TransformParameter(
        "size", .length(1...2_000), .value(.length(.pixels(24))), isScaled: true,
        "The letters' size (of an em); a percentage is of the picture's height.")
    private static let font = TransformParameter(
        "font", .text(limit: 100), .value(.text("sans")),
        "A font family that is installed, else the nearest; with a style if wanted: DejaVu_Serif_Bold.")
    private static let color = TransformParameter(
        "color", .color, .value(.color(.black)), "The letters' colour.")
    private static let encodedText = TransformParameter(
        "text64", .encodedText(limit: limit), .absent, "The text, in place of text.")

    private static let tile = TransformParameter.flag("tile", "Whether it is repeated all over the picture.")

    /// Repeated, a text covers the picture as a watermark does.
    package var cost: PixelCost { PixelCost(work: isTiled ? 2 : 0.3, memory: 4) }
    package static let toleratesIntermediate = true

    package let arguments: TransformArguments
    private let content: String
    private let size: Length?
    private let family: String
    private let color: PixelColor
    private let stamp: OverlayPlacement

    package init(arguments: TransformArguments) throws(TransformError) {
        content = try Self.content(of: arguments)
        self.arguments = arguments.replacing(Self.canonical(content))
        size = arguments.length(Self.size)
        family = Self.spaced(arguments.text(Self.font) ?? "")
        color = arguments.color(Self.color) ?? .black
        stamp = OverlayPlacement(arguments)
    }

    // MARK: - Content

    private static func content(of arguments: TransformArguments) throws(TransformError) -> String {
        let plain = arguments.text(text)
        let encoded = arguments.text(encodedText)
        guard plain == nil || encoded == nil else {
            throw arguments.error(.conflict(with: text.name), encodedText)
        }
        guard plain != nil || encoded != nil else {
            throw arguments.error(
                .malformed(
                    expected:
                        "text:Words_of_it, or text:text64= with what the grammar does not allow, in base64url"
                ),
                text)
        }
        let content = plain.map(spaced) ?? decoded(encoded ?? "")
        guard content.contains(where: { !$0.isWhitespace }) else {
            throw arguments.error(.emptyValue, plain == nil ? encodedText : text)
        }
        return content
    }

    private static func spaced(_ text: String) -> String {
        String(text.map { $0 == "_" ? " " : $0 })
    }

    private static func decoded(_ text: String) -> String {
        String(decoding: Base64.decodeURL(text.utf8) ?? [], as: UTF8.self)
    }

    /// The canonical spelling of a text: plain if possible.
    private static func canonical(_ content: String) -> [String: TransformValue?] {
        let isPlain = content.utf8.allSatisfy { byte in
            byte == UInt8(ascii: " ") || (byte != UInt8(ascii: "_") && TransformParser.isAllowed(byte))
        }
        guard isPlain else {
            return [text.name: TransformValue?.none, encodedText.name: .text(Base64.encodeURL(content.utf8))]
        }
        let spelled = String(content.map { $0 == " " ? "_" : $0 })
        return [text.name: .text(spelled), encodedText.name: TransformValue?.none]
    }

    /// The font size in pixels.
    private func letterSize(on canvas: PixelSize) -> Double { max(1, size?.pixels(of: canvas.height) ?? 1) }

    /// Whether it is repeated over the whole picture.
    private var isTiled: Bool { arguments.isOn(Self.tile) }

    /// The maximum number of pixels of the rectangle around its letters. A line break makes a line of the picture's width, a
    /// tab is as wide as eight letters; scalars are counted, since a font may lack what several of them are together.
    package func area(on canvas: PixelSize) -> Double {
        let size = letterSize(on: canvas)
        return content.unicodeScalars.reduce(0) { area, scalar in
            switch scalar {
            case "\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}":
                area + size * Self.lineHeight * max(size, Double(canvas.width))
            case "\t": area + size * size * Self.tabWidth
            default: area + size * size
            }
        }
    }

    /// Of a line and of a tab, in ems.
    private static let lineHeight = 1.5, tabWidth = 8.0

    // MARK: - Drawing

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let canvas = image.size
        let pixels = letterSize(on: canvas)
        // Checked before drawing: letters are narrower than an em, so they cover less.
        guard area(on: canvas) <= Double(context.maxPixels) else {
            throw .tooManyPixels(
                "the letters may cover more pixels than limits.outputPixels, \(context.maxPixels)")
        }
        let drawing = try context.once { () throws(ImagingError) in
            let letters = try VipsImage.text(
                content, font: "\(family) \(FixedNumber(rounding: pixels))", width: canvas.width)
            return try letters.uniform(color).masked(by: letters).computed()
        }
        let place = stamp.place(of: drawing.size, on: canvas)
        guard isTiled else { return try image.stamped(with: drawing, at: place) }
        // The drawing ends where its letters do: without a gap they would run into one another.
        let gap = Int(pixels / 2)
        let unit = try drawing.placed(
            on: PixelSize(drawing.size.width + gap, drawing.size.height + gap), left: 0, top: 0,
            over: .transparent)
        let tiled = try unit.surrounded(on: canvas, left: place.left, top: place.top, by: .tiled)
        return try image.stamped(with: tiled, at: (0, 0))
    }
}
