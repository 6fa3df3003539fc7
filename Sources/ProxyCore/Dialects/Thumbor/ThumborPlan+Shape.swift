// SPDX-License-Identifier: Apache-2.0

import Primitives

extension ThumborPlan {
    /// `proportion(SHARE)` scales the result.
    mutating func addProportion(_ values: [String]) -> Bool {
        guard var share = values.first.flatMap(DecimalText.number), share > 0 else { return false }
        if isImagor, share > 1 { share /= 100 }
        guard share < 1 else { return true }
        let percent = DecimalText.text(share * 100) + "pc"
        operations.append("resize:\(percent)x\(percent):fill:down=1")
        return true
    }

    /// `round_corner(R[|R2],r,g,b[,1])`: transparent outside only where the last is set and the format has that.
    mutating func addRoundCorner(_ values: [String]) -> Bool {
        let radii = values.first?.split(separator: "|").compactMap { ThumborPath.count($0) } ?? []
        guard (4...5).contains(values.count), let channels = Self.numbers(Array(values[1...3]), count: 3),
            (1...2).contains(radii.count)
        else { return false }
        operations.append("round:\(radii[0]):ry=\(radii[radii.count - 1])")
        let isTransparent = values.count == 5 && ["1", "true"].contains(values[4].lowercased())
        guard !isTransparent || format == "jpeg" else { return true }
        let color = channels.map { channel in
            String(Int(min(max(0, channel), 255)) + 256, radix: 16).dropFirst()
        }
        operations.append("background:" + color.joined())
        return true
    }

    /// `fill(COLOUR[,1])`: bars up to the wanted size; with 1 also under what is transparent.
    mutating func addFill(_ values: [String]) -> Bool {
        guard let name = values.first, let color = Self.color(name) else { return false }
        let isOpaque = values.count > 1 && ["1", "true"].contains(values[1].lowercased())
        let filling = ["blur": "fill=blur", "auto": "fill=mean"][color] ?? "color=\(color)"
        // The others are at least as large as the wanted size already.
        if options.mode == .fit, options.width != nil || options.height != nil {
            let size = "\(options.width?.text ?? "100pc")x\(options.height?.text ?? "100pc")"
            operations.append(
                "extend:\(size):\(filling)" + (has("no_upscale") ? ":enlarge=0" : "")
                    + (options.isAdaptive ? ":swap=1" : ""))
        }
        if isOpaque, filling.hasPrefix("color"), color != "transparent" {
            operations.append("background:\(color)")
        }
        return true
    }

    // MARK: - Laid over the picture

    /// A place as thumbor and imagor write it, in our words.
    private struct Place {
        var gravity: String
        var x: String
        var y: String
        /// `1`, `x` or `y` where it is repeated.
        var tile: String?

        /// `left:top` with `center`, `repeat`, percentages (`50p`), and negative values from the other side.
        init?(_ x: String, _ y: String) {
            guard let across = Self.axis(x, first: "left", last: "right"),
                let down = Self.axis(y, first: "top", last: "bottom")
            else { return nil }
            gravity = ThumborPlan.compass(across.side, down.side)
            self.x = across.offset
            self.y = down.offset
            tile = across.isRepeated ? (down.isRepeated ? "1" : "x") : down.isRepeated ? "y" : nil
        }

        private static func axis(
            _ text: String, first: String, last: String
        ) -> (side: String?, offset: String, isRepeated: Bool)? {
            if text == "center" { return (nil, "0", false) }
            if text == "repeat" { return (first, "0", true) }
            if text == first || text == last { return (text, "0", false) }
            let isFromEnd = text.hasPrefix("-")
            let magnitude = text.dropFirst(isFromEnd ? 1 : 0)
            let isPercent = magnitude.hasSuffix("p")
            guard let number = DecimalText.number(isPercent ? magnitude.dropLast() : magnitude) else {
                return nil
            }
            let offset = DecimalText.text(number) + (isPercent ? "pc" : "")
            return (isFromEnd ? last : first, offset, false)
        }
    }

    /// `watermark(URL,X,Y,TRANSPARENCY[,W%[,H%]])`, of the configured watermarks.
    mutating func addWatermark(_ values: [String]) throws(TranslationError) -> Bool {
        guard (4...6).contains(values.count), let place = Place(values[1], values[2]),
            let transparency = DecimalText.number(values[3])
        else { return false }
        let url = values[0]
        let spellings = [url, "http://\(url)", "https://\(url)"]
        guard let name = spellings.compactMap({ settings.watermarks[$0] }).first else {
            try refuse("watermark", "name '\(url.excerpt)' in 'watermarks' of the dialect")
            return true
        }
        var text = "watermark:\(name):\(place.gravity):\(place.x):\(place.y)"
        let opacity = 1 - min(max(0, transparency), 100) / 100
        if opacity != 1 { text += ":opacity=\(DecimalText.text(opacity))" }
        if let tile = place.tile {
            let spread = "spread" + (tile == "1" ? "" : tile)
            text += ":tile=\(isImagor ? tile : spread)"
        }
        let shares = values.dropFirst(4).map { DecimalText.number($0).map { DecimalText.text($0 / 100) } }
        switch (shares.first ?? nil, shares.count > 1 ? shares[1] : nil) {
        case (let width?, let height?) where width == height: text += ":scale=\(width)"
        case (let width, let height):
            if let width { text += ":width=\(width)" }
            if let height { text += ":height=\(height)" }
        }
        operations.append(text)
        return true
    }

    /// `label(TEXT,X,Y,SIZE,COLOUR[,TRANSPARENCY[,FONT]])` (imagor).
    mutating func addLabel(_ values: [String]) -> Bool {
        guard (5...7).contains(values.count), let place = Place(values[1], values[2]), place.tile == nil,
            let size = ThumborPath.count(values[3][...]), let color = Self.color(values[4]),
            !values[0].isEmpty
        else { return false }
        var text = "text:text64=\(Base64.encodeURL(values[0].utf8)):size=\(size)"
        let alpha = values.count > 5 ? DecimalText.number(values[5]) : 0
        let isHexadecimal = color.utf8.count == 6 && color.allSatisfy(\.isHexDigit)
        if let alpha, alpha > 0, isHexadecimal {
            let level = Int((255 * (1 - min(alpha, 100) / 100)).rounded())
            text += ":color=\(color)\(String(level + 256, radix: 16).dropFirst())"
        } else {
            text += ":color=\(color)"
        }
        if values.count > 6 {
            let isName = values[6].utf8.allSatisfy {
                $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-") || PercentText.isAlphanumeric($0)
            }
            guard isName else { return false }
            text += ":font=" + values[6].replacing(" ", with: "_")
        }
        operations.append("\(text):gravity=\(place.gravity):x=\(place.x):y=\(place.y)")
        return true
    }

    // MARK: - imagor

    /// `orient(ANGLE)` turns counterclockwise, before the picture gets its size.
    mutating func orient(_ filter: ThumborFilter) throws(TranslationError) {
        guard let angle = filter.arguments.first.flatMap({ ThumborPath.count($0[...]) }),
            angle.isMultiple(of: 90)
        else { return try skip(filter, "is a multiple of 90") }
        if angle % 360 != 0 { operations.append("rotate:\(360 - angle % 360)") }
    }

    /// `expire(MILLISECONDS)` since 1970.
    mutating func addExpiry(_ values: [String]) throws(TranslationError) -> Bool {
        guard let time = values.first.flatMap({ Int64($0) }), time > 0 else { return false }
        guard time / 1_000 > now else { throw TranslationError(.expired, "expire", "the URL's time is over") }
        output["expires"] = "\(time / 1_000)"
        return true
    }
}
