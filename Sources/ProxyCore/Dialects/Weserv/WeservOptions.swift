// SPDX-License-Identifier: Apache-2.0

/// The parameters of a weserv URL by their first names; the first of several equal ones wins.
struct WeservOptions: OptionReading {
    /// The texts of the parameters; nil where there is no `=`.
    private var texts: [String: String?] = [:]
    var leniency: Leniency

    private static let names: Set<String> = [
        "url", "w", "h", "dpr", "fit", "we", "crop", "cx", "cy", "cw", "ch", "precrop", "a", "fpx", "fpy",
        "trim",
        "mask", "mtrim", "mbg", "ro", "flip", "flop", "bri", "mod", "sat", "hue", "con", "gam", "sharp",
        "sharpf",
        "sharpj", "blur", "filt", "start", "stop", "tint", "bg", "cbg", "rbg", "q", "l", "af", "il", "ll",
        "output", "page", "n", "loop", "delay", "encoding", "filename", "maxage", "default",
    ]
    private static let synonyms = [
        "shape": "mask", "strim": "mtrim", "or": "ro", "t": "fit", "pages": "n", "width": "w", "height": "h",
        "align": "a", "level": "l", "quality": "q", "lossless": "ll", "errorredirect": "default",
    ]

    /// Reads a query.
    init(_ query: String?, _ leniency: Leniency) throws(TranslationError) {
        self.leniency = leniency
        for item in DialectQuery(query).items {
            let name = item.name.lowercased() == "url" ? "url" : Self.synonyms[item.name] ?? item.name
            guard Self.names.contains(name) else {
                let hint =
                    name.hasPrefix("amp;") ? "'&' in a URL is not written as '&amp;'" : "is no parameter"
                try self.leniency.ignoreOrThrow(item.name, hint)
                continue
            }
            guard texts[name] == nil else {
                try self.leniency.ignoreOrThrow(item.name, "is given more than once")
                continue
            }
            if name == "url" || name == "default" {
                texts[name] = .some(item.rawValue.map { PercentText.url(PercentText.decoded($0)) })
            } else if let names = Self.lists[name], let value = item.value {
                try divide(value, among: names, from: name)
            } else {
                texts[name] = .some(item.value)
            }
        }
    }

    /// Lists, and the parameters that their members stand for.
    private static let lists = [
        "mod": ["mod", "sat", "hue"], "sharp": ["sharpf", "sharpj", "sharp"],
        "crop": ["cw", "ch", "cx", "cy"],
    ]

    /// Sets what the members of a list stand for, unless that is given already.
    private mutating func divide(
        _ value: String, among names: [String], from list: String
    ) throws(TranslationError) {
        let members = value.split(separator: ",").prefix(names.count).map(String.init)
        if list == "crop", members.count < names.count {
            return try leniency.ignoreOrThrow(list, "must be w,h,x,y")
        }
        // A single one is the sigma.
        guard list != "sharp" || members.count > 1 else { return texts[list] = .some(value) }
        for (name, member) in zip(names, members) where texts[name] == nil {
            let text = list == "crop" ? "\(NumberText.leadingInteger(member) ?? 0)" : member
            texts[name] = .some(text)
        }
    }

    /// The text of a parameter; nil if it is absent, empty where it has no `=`.
    subscript(name: String) -> String? { texts[name].map { $0 ?? "" } }

    /// Whether a switch is on: given with any value but `0` and `false`, or with none.
    func isOn(_ name: String) -> Bool {
        self[name].map { $0 != "0" && $0 != "false" } ?? false
    }

    /// The whole number that the text begins with.
    mutating func integer(_ name: String, in range: ClosedRange<Int>) throws(TranslationError) -> Int? {
        try value(name, "must be from \(range.lowerBound) to \(range.upperBound)") { text in
            NumberText.leadingInteger(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// The number that the text begins with.
    mutating func decimal(_ name: String, in range: ClosedRange<Double>) throws(TranslationError) -> Double? {
        try number(name, in: range, NumberText.leadingDecimal)
    }

    /// Pixels, or a share of the picture's side with `%`; nil for 0, too.
    mutating func side(_ name: String) throws(TranslationError) -> SideLength? {
        guard let text = self[name] else { return nil }
        // The sign may have been encoded twice.
        if let percent = text.hasSuffix("%")
            ? text.dropLast() : text.hasSuffix("%25") ? text.dropLast(3) : nil
        {
            guard let number = NumberText.leadingDecimal(percent), (0...100).contains(number) else {
                try leniency.ignoreOrThrow(name, "must be from 0% to 100%")
                return nil
            }
            return number > 0 ? .percent(number) : nil
        }
        guard let number = NumberText.leadingInteger(text), number >= 0 else {
            try leniency.ignoreOrThrow(name, "must be pixels, or a percentage")
            return nil
        }
        guard number <= Self.mostPixels else {
            try leniency.ignoreOrThrow(name, "must be pixels, or a percentage")
            return nil
        }
        guard Double(number) <= SideLength.maxPixels else {
            throw TranslationError(.invalid, name, "must be at most 100000")
        }
        return number > 0 ? .pixels(Double(number)) : nil
    }

    /// Beyond it a number is none.
    private static let mostPixels = 10_000_000

    /// A colour that can be seen; nil where it is transparent.
    mutating func visibleColor(_ name: String) throws(TranslationError) -> DialectColor? {
        try color(name).flatMap { $0.isTransparent ? nil : $0 }
    }

    /// The numbers of a list; nil for those that are none.
    func list(_ name: String) -> [Int?] {
        (self[name] ?? "").split(separator: ",").map { NumberText.leadingInteger($0) }
    }
}
