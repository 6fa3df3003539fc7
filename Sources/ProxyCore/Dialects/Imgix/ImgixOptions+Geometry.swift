// SPDX-License-Identifier: Apache-2.0

extension ImgixOptions {
    /// The borders of `pad`, in pixels.
    private struct Padding {
        var top = 0.0
        var right = 0.0
        var bottom = 0.0
        var left = 0.0

        var isEmpty: Bool { top + right + bottom + left == 0 }
    }

    /// The operations up to the size and the turns, in imgix's order.
    mutating func geometry() throws(TranslationError) -> [String] {
        try orientation() + trim() + rectangle() + sized() + turns()
    }

    /// The orientation in place of the metadata's.
    private mutating func orientation() throws(TranslationError) -> [String] {
        guard let value = try word("or", (0...8).map(String.init) + ["90", "180", "270"]), value != "0" else {
            return []
        }
        return ["orient:\(["90": "8", "180": "3", "270": "6"][value] ?? value)"]
    }

    private mutating func trim() throws(TranslationError) -> [String] {
        switch try word("trim", ["auto", "color"]) {
        case "auto":
            return ["trim:\(NumberText.text(try number("trim-md", in: 0...255) ?? 11))"]
        case "color":
            let tolerance = NumberText.text(try number("trim-tol", in: 0...255) ?? 0)
            return ["trim:\(tolerance)" + (try color("trim-color").map { ":color=\($0.text)" } ?? "")]
        default: return []
        }
    }

    private mutating func rectangle() throws(TranslationError) -> [String] {
        guard self["rect"] != nil else { return [] }
        let numbers = list("rect").map { NumberText.decimal($0) }
        guard numbers.count == 4, let x = numbers[0], let y = numbers[1], let width = numbers[2],
            let height = numbers[3],
            x >= 0, y >= 0, width > 0, height > 0
        else {
            try leniency.ignoreOrThrow("rect", "must be x,y,width,height")
            return []
        }
        func side(_ number: Double) -> SideLength { number <= 1 ? .percent(number * 100) : .pixels(number) }
        func corner(_ number: Double) -> String {
            number > 0 && number < 1 ? NumberText.percentage(number) : NumberText.text(number)
        }
        return ["crop:\(SideLength.size(side(width), side(height))):x=\(corner(x)):y=\(corner(y))"]
    }

    private mutating func turns() throws(TranslationError) -> [String] {
        var operations: [String] = []
        if let flip = try word("flip", ["h", "v", "hv", "vh"]) {
            operations.append("flip:\(flip == "vh" ? "hv" : flip)")
        }
        // Counterclockwise there, clockwise here.
        if let angle = try number("rot", in: 0...360), angle > 0, angle < 360 {
            operations.append("rotate:\(NumberText.text(360 - angle))")
        }
        return operations
    }

    // MARK: - Size

    private mutating func sized() throws(TranslationError) -> [String] {
        let density = try number("dpr", in: 0.1...10) ?? 1
        let fits = ["clip", "max", "crop", "scale", "fill", "fillmax", "min", "clamp", "facearea"]
        let fit = try word("fit", fits) ?? "clip"
        var width = try side("w", density: density)
        var height = try side("h", density: density)
        if fit == "crop", let ratio = try aspectRatio() {
            guard width != nil || height != nil else {
                let (gravity, _) = try position()
                return ["crop:\(NumberText.text(ratio.0))x\(NumberText.text(ratio.1))\(gravity):ratio=1"]
            }
            if width == nil { width = height?.missingSide(times: ratio.0 / ratio.1) }
            if height == nil { height = width?.missingSide(times: ratio.1 / ratio.0) }
        }
        let padding = try padding()
        return try sized(
            width?.reduced(by: padding.left + padding.right),
            height?.reduced(by: padding.top + padding.bottom), fit)
    }

    private mutating func sized(
        _ width: SideLength?, _ height: SideLength?, _ fit: String
    ) throws(TranslationError) -> [String] {
        guard width != nil || height != nil else { return [] }
        let size = SideLength.size(width, height)
        guard width != nil, height != nil else {
            return ["resize:\(size)" + (["max", "min", "fillmax"].contains(fit) ? "" : ":enlarge=1")]
        }
        switch fit {
        case "max": return ["resize:\(size)"]
        case "scale": return ["resize:\(size):fill:enlarge=1"]
        // There is no search for faces.
        case "facearea": return ["resize:\(size):cover:gravity=smart:enlarge=1"]
        case "crop", "min":
            let enlarge = fit == "crop" ? ":enlarge=1" : ""
            let (gravity, zoom) = try position()
            guard zoom > 1, let width, let height else { return ["resize:\(size):cover\(gravity)\(enlarge)"] }
            let large = SideLength.size(width.scaled(by: zoom), height.scaled(by: zoom))
            try refusePercent(size, fit)
            return ["resize:\(large):outside:enlarge=1", "crop:\(size)\(gravity)"]
        case "fill", "fillmax", "clamp":
            try refusePercent(size, fit)
            let fill = try bars(fit)
            return ["resize:\(size)" + (fit == "fillmax" ? "" : ":enlarge=1"), "extend:\(size)\(fill)"]
        default: return ["resize:\(size):enlarge=1"]
        }
    }

    /// A second operation would take the percentage of another picture.
    private func refusePercent(_ size: String, _ fit: String) throws(TranslationError) {
        guard size.contains("pc") else { return }
        throw TranslationError(.unsupported, "w", "a share of the source with fit=\(fit); give pixels")
    }

    private mutating func bars(_ fit: String) throws(TranslationError) -> String {
        if fit == "clamp" { return ":fill=edge" }
        let fill = try word("fill", ["solid", "blur", "gen", "gradient"]) ?? "solid"
        guard fill == "solid" || fill == "blur" else {
            throw TranslationError(.unsupported, "fill", "must be solid or blur")
        }
        if fill == "blur" { return ":fill=blur" }
        let background = try color("bg")
        return (try color("fill-color") ?? background?.ofBars).map { ":color=\($0.text)" } ?? ""
    }

    private mutating func aspectRatio() throws(TranslationError) -> (Double, Double)? {
        guard let text = self["ar"] else { return nil }
        let parts = text.split(separator: ":").map { NumberText.decimal($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], width > 0, height > 0 else {
            try leniency.ignoreOrThrow("ar", "must be W:H")
            return nil
        }
        return (width, height)
    }

    /// Where it is cut, and how much closer it is looked at.
    private mutating func position() throws(TranslationError) -> (gravity: String, zoom: Double) {
        let words = list("crop").map(String.init)
        let known: Set<String> = [
            "top", "bottom", "left", "right", "faces", "focalpoint", "edges", "entropy", "center",
        ]
        for word in words where !known.contains(word) {
            try leniency.ignoreOrThrow("crop", "'\(word)' is none of its words")
        }
        if words.contains("focalpoint") {
            let x = NumberText.text(try number("fp-x", in: 0...1) ?? 0.5)
            let y = NumberText.text(try number("fp-y", in: 0...1) ?? 0.5)
            return (":gravity=focal:fx=\(x):fy=\(y)", try number("fp-z", in: 1...100) ?? 1)
        }
        if let content = words.first(where: { ["faces", "edges", "entropy"].contains($0) }) {
            return (content == "entropy" ? ":gravity=entropy" : ":gravity=smart", 1)
        }
        let vertical = words.contains("top") ? "north" : words.contains("bottom") ? "south" : ""
        let horizontal = words.contains("left") ? "west" : words.contains("right") ? "east" : ""
        return (vertical + horizontal == "" ? "" : ":gravity=\(vertical)\(horizontal)", 1)
    }

    // MARK: - Padding

    private mutating func padding() throws(TranslationError) -> Padding {
        let most = 10_000.0
        let all = try number("pad", in: 0...most) ?? 0
        return Padding(
            top: try number("pad-top", in: 0...most) ?? all,
            right: try number("pad-right", in: 0...most) ?? all,
            bottom: try number("pad-bottom", in: 0...most) ?? all,
            left: try number("pad-left", in: 0...most) ?? all)
    }

    /// The borders; within the size where one is given.
    mutating func pad() throws(TranslationError) -> [String] {
        let padding = try padding()
        guard !padding.isEmpty else { return [] }
        let sides = [padding.top, padding.right, padding.bottom, padding.left].map { NumberText.text($0) }
        let color = try color("bg")?.ofBars ?? .transparent
        return ["pad:\(sides.joined(separator: ":")):color=\(color.text)"]
    }
}

extension SideLength {
    /// The other side of a size with these proportions; a share says nothing about it.
    fileprivate func missingSide(times factor: Double) -> SideLength? {
        guard case .pixels(let number) = self else { return nil }
        return .pixels((number * factor).rounded())
    }

    /// What is left between borders; they do not count beside a share.
    fileprivate func reduced(by borders: Double) -> SideLength {
        guard case .pixels(let number) = self else { return self }
        return .pixels(max(1, number - borders))
    }
}
