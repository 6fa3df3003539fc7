// SPDX-License-Identifier: Apache-2.0

import Primitives

extension ThumborPlan {
    /// `proportion(SHARE)` scales the result.
    mutating func addProportion(_ values: [String]) -> Bool {
        guard var share = values.first.flatMap(NumberText.decimal), share > 0 else { return false }
        if isImagor, share > 1 { share /= 100 }
        guard share < 1 else { return true }
        let percent = NumberText.percentage(share)
        operations.append("resize:\(percent)x\(percent):fill:down=1")
        hasOtherSize = true
        return true
    }

    /// `round_corner(R[|R2],r,g,b[,1])`: transparent outside only where the last is set and the format has that.
    mutating func addRoundCorner(_ values: [String]) throws(TranslationError) -> Bool {
        let radii = values.first?.split(separator: "|", omittingEmptySubsequences: false).map {
            ThumborPath.count($0)
        }
        guard (4...5).contains(values.count), let channels = Self.numbers(Array(values[1...3]), count: 3),
            let radii, (1...2).contains(radii.count), let across = radii[0], let down = radii[radii.count - 1]
        else { return false }
        guard channels.allSatisfy({ (0...255).contains($0) }) else {
            throw TranslationError(.invalid, "round_corner", "red, green and blue are at most 255")
        }
        let isTransparent = values.count == 5 && ["1", "true"].contains(values[4].lowercased())
        let color = channels.map { UInt8(clamping: Int($0)).hexadecimal }.joined()
        let outside = isTransparent && !willBeJPEG ? "" : ":outside=\(color)"
        operations.append("round:\(across):ry=\(down)\(outside)")
        return true
    }

    /// Whether the result has no transparency, as far as the URL says so: by its format, else by the source's name.
    private var willBeJPEG: Bool {
        guard format == nil, !settings.autoWebP, !isImagor else { return format == "jpeg" }
        let name = output["url"]?.lowercased() ?? ""
        return name.hasSuffix(".jpg") || name.hasSuffix(".jpeg")
    }

    /// `upscale()`: what is smaller than both wanted sides grows to one of them. Only `fit-in` leaves such.
    mutating func addUpscale() {
        guard !isImagor, options.mode == .fit, let width = options.width, let height = options.height else {
            return
        }
        let bound = has("no_upscale") ? ":bound=source" : ""
        let swap = options.isAdaptive ? ":swap=1" : ""
        operations.append("resize:\(width.text)x\(height.text):enlarge=1:down=1\(bound)\(swap)")
    }

    /// `fill(COLOUR[,1])`: bars up to the wanted size; with 1 also under what is transparent.
    mutating func addFill(_ values: [String]) throws(TranslationError) -> Bool {
        guard let name = values.first, let color = Self.color(name) else { return false }
        let isOpaque = values.count > 1 && ["1", "true"].contains(values[1].lowercased())
        let blurred = isImagor ? "fill=blur" : "fill=squeeze"
        let own = ["blur": blurred, "auto": "fill=mean"][color]
        if own == nil, !isImagor { try Self.checkColor(color, "fill") }
        if isOpaque, own == nil, color != "transparent" { operations.append("background:\(color)") }
        // Without `fit-in` a picture is as large as is wanted, unless another filter has changed that.
        guard options.mode == .fit || (options.mode == .cover && hasOtherSize && !isImagor),
            options.width != nil || options.height != nil
        else { return true }
        let size = "\(options.width?.text ?? "100pc")x\(options.height?.text ?? "100pc")"
        operations.append(
            "extend:\(size):\(own ?? "color=\(color)")"
                + (has("no_upscale") ? isImagor ? ":enlarge=0" : ":bound=source" : "")
                + (options.isAdaptive ? ":swap=1" : ""))
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
        ///
        /// - Parameter isImagor: whether the sides' names are places, too, and numbers may have points.
        init?(_ x: String, _ y: String, isImagor: Bool) {
            guard let across = Self.axis(x, first: "left", last: "right", isImagor),
                let down = Self.axis(y, first: "top", last: "bottom", isImagor)
            else { return nil }
            gravity = ThumborPlan.compass(across.side, down.side)
            self.x = across.offset
            self.y = down.offset
            tile = across.isRepeated ? (down.isRepeated ? "1" : "x") : down.isRepeated ? "y" : nil
        }

        private static func axis(
            _ text: String, first: String, last: String, _ isImagor: Bool
        ) -> (side: String?, offset: String, isRepeated: Bool)? {
            if text == "center" { return (nil, "0", false) }
            if text == "repeat" { return (first, "0", true) }
            if isImagor, text == first || text == last { return (text, "0", false) }
            let isFromEnd = text.hasPrefix("-")
            let magnitude = text.dropFirst(isFromEnd ? 1 : 0)
            let isPercent = magnitude.hasSuffix("p")
            let digits = isPercent ? magnitude.dropLast() : magnitude
            guard isImagor || ThumborArgument.count.matches(String(digits)),
                let number = NumberText.decimal(digits)
            else { return nil }
            let offset = NumberText.text(number) + (isPercent ? "pc" : "")
            return (isFromEnd ? last : first, offset, false)
        }
    }

    /// `watermark(URL,X,Y,TRANSPARENCY[,W%[,H%]])`, of the configured watermarks.
    ///
    /// If it can't be fetched, the request fails, as with thumbor: a picture without its watermark is no
    /// substitute.
    mutating func addWatermark(_ values: [String]) throws(TranslationError) -> Bool {
        guard (4...6).contains(values.count), let place = Place(values[1], values[2], isImagor: isImagor),
            let transparency = NumberText.decimal(values[3])
        else { return false }
        let url = values[0]
        let spellings = [url, "http://\(url)", "https://\(url)"]
        guard let name = spellings.compactMap({ settings.watermarks[$0] }).first else {
            throw TranslationError(
                .unsupported, "watermark", "name '\(url.excerpt)' in 'watermarks' of the dialect")
        }
        var text = "watermark:\(name):\(place.gravity):\(place.x):\(place.y)"
        let opacity = 1 - min(max(0, transparency), 100) / 100
        if opacity != 1 { text += ":opacity=\(NumberText.text(opacity))" }
        if let tile = place.tile {
            let spread = "spread" + (tile == "1" ? "" : tile)
            text += ":tile=\(isImagor ? tile : spread)"
        }
        let shares = values.dropFirst(4).map { value in
            NumberText.decimal(value).flatMap { $0 > 0 ? NumberText.text($0 / 100) : nil }
        }
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
        guard (5...7).contains(values.count), let place = Place(values[1], values[2], isImagor: true),
            place.tile == nil,
            let size = ThumborPath.count(values[3]), let color = Self.color(values[4]),
            !values[0].isEmpty
        else { return false }
        var text = "text:text64=\(Base64.encodeURL(values[0].utf8)):size=\(size)"
        let alpha = values.count > 5 ? NumberText.decimal(values[5]) : 0
        let isHexadecimal = color.utf8.count == 6 && color.allSatisfy(\.isHexDigit)
        if let alpha, alpha > 0, isHexadecimal {
            let level = UInt8(clamping: Int((255 * (1 - min(alpha, 100) / 100)).rounded()))
            text += ":color=\(color)\(level.hexadecimal)"
        } else {
            text += ":color=\(color)"
        }
        if values.count > 6 {
            let isName = values[6].utf8.allSatisfy {
                $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-") || $0.isASCIIAlphanumeric
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
        guard let angle = filter.arguments.first.flatMap(ThumborPath.count),
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
