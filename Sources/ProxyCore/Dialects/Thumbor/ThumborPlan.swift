// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Builds the translation of a path: operations in thumbor's order of work, then the filters as written.
struct ThumborPlan {
    let options: ThumborPath
    let settings: Thumbor.Settings
    let now: Int64
    /// Those whose arguments are as they should be.
    let filters: [ThumborFilter]
    private let names: Set<String>
    var operations: [String] = []
    var format: String?
    var quality: Int?
    /// Whether a filter has made the picture another size than the wanted one.
    var hasOtherSize = false
    var output = Translation()

    var isImagor: Bool { settings.flavor == .imagor }

    /// - Parameter now: seconds since 1970.
    init(_ options: ThumborPath, _ settings: Thumbor.Settings, now: Int64) {
        self.options = options
        self.settings = settings
        self.now = now
        filters = options.filters.filter { Self.isUnderstood($0, settings) }
        names = Set(filters.map(\.name))
    }

    /// The parameters for the picture at `url`.
    mutating func translation(from url: String) throws(TranslationError) -> Translation {
        output["url"] = url
        guard !options.isDebug else {
            throw TranslationError(.unsupported, "debug", "focal points can't be drawn")
        }
        guard !isImagor || !has("raw") else {
            output["format"] = "source"
            return output
        }
        for filter in options.filters where !Self.isUnderstood(filter, settings) {
            try skip(filter, "its arguments are not understood")
        }
        if !isImagor, !settings.respectsOrientation { operations.append("orient:none") }
        for filter in filters where filter.name == "orient" && isImagor { try orient(filter) }
        addTrim()
        addCrop()
        try addResize()
        if options.flipsHorizontally || options.flipsVertically {
            operations.append(
                "flip:" + (options.flipsHorizontally ? "h" : "") + (options.flipsVertically ? "v" : ""))
        }
        for filter in filters where filter.name == "format" { try add(filter) }
        for filter in filters where filter.name != "format" { try add(filter) }
        addPadding()
        // The alpha channel is dropped, and what lies under it shows.
        if format == "jpeg", !isImagor, !operations.contains(where: { $0.hasPrefix("background:") }) {
            operations.append("opaque")
        }
        // A picture is always written anew, and turned then.
        if operations.isEmpty { operations.append("orient:auto") }
        output["transform"] = operations.joined(separator: ",")
        // GIF stays GIF; what the source is can be seen of its name alone here.
        let mayBeWebP = settings.autoWebP && !url.lowercased().hasSuffix(".gif")
        output["format"] = format ?? (mayBeWebP ? "auto:webp" : "source")
        // The others have none; thumbor ignores it there.
        if let quality, format.map(OutputFormats.withQuality.contains) ?? true {
            output["quality"] = "\(quality)"
        }
        return output
    }

    /// Whether thumbor would run a filter; imagor reads arguments more freely.
    private static func isUnderstood(_ filter: ThumborFilter, _ settings: Thumbor.Settings) -> Bool {
        settings.flavor == .imagor || ThumborArgument.fit(filter)
    }

    /// Whether a filter of this name is there.
    func has(_ name: String) -> Bool { names.contains(name) }

    // MARK: - Geometry

    private mutating func addTrim() {
        guard let trim = options.trim else { return }
        let corner = trim.isByLastCorner ? ":corner=southeast" : ""
        operations.append("trim:\(Self.threshold(ofTolerance: trim.tolerance))\(corner)")
    }

    /// Thumbor measures the distance of two colours in space, we the largest difference of a channel: √3 times
    /// less for two greys. Beyond the largest distance it takes none.
    static func threshold(ofTolerance tolerance: Int) -> String {
        tolerance > 441 ? "0" : NumberText.text((Double(tolerance) / 3.0.squareRoot()).rounded())
    }

    /// The wanted part of the source in pixels; nil for all of it.
    private var cropped: [Double]? {
        guard let crop = options.crop, crop[0] < crop[2], crop[1] < crop[3] else { return nil }
        return crop
    }

    /// Whether the numbers of a crop are shares of the picture (imagor).
    private static func areShares(_ numbers: [Double]) -> Bool {
        numbers.allSatisfy { $0 <= 1 } && numbers.contains { $0 != $0.rounded() }
    }

    private mutating func addCrop() {
        guard let crop = cropped else { return }
        let (width, height) = (crop[2] - crop[0], crop[3] - crop[1])
        if Self.areShares(crop) {
            let parts = [width, height, crop[0], crop[1]].map { NumberText.percentage($0) }
            operations.append("crop:\(parts[0])x\(parts[1]):x=\(parts[2]):y=\(parts[3])")
            return
        }
        let base = options.trim == nil ? "" : ":base=source"
        operations.append(
            "crop:\(Int(width))x\(Int(height)):x=\(Int(crop[0])):y=\(Int(crop[1])):lenient=1\(base)")
    }

    private mutating func addResize() throws(TranslationError) {
        guard options.width != nil || options.height != nil else { return }
        let size = "\(options.width?.text ?? "")x\(options.height?.text ?? "")"
        let isWhole = options.width != nil && options.height != nil
        guard isWhole || (options.width != .original && options.height != .original) else {
            throw TranslationError(.invalid, "orig", "needs the other side, too")
        }
        let swap = options.isAdaptive && isWhole ? ":swap=1" : ""
        // A side that is left out is rounded before the picture is fitted.
        let even = isWhole || isImagor ? "" : ":even=1"
        let enlarge = ":enlarge=1" + (has("no_upscale") ? ":bound=source" : "")
        switch options.mode {
        case .fit where isImagor && has("upscale"):
            operations.append("resize:\(size):enlarge=1:down=1\(swap)")
        case .fit: operations.append("resize:\(size)\(even)\(swap)")
        case .full: operations.append("resize:\(size):outside\(enlarge)\(even)\(swap)")
        case .cover where !isWhole || options.isStretched || has("stretch"):
            operations.append("resize:\(size):fill\(enlarge)\(even)")
        case .cover: operations.append("resize:\(size):cover\(enlarge)\(gravity)")
        }
    }

    /// Which part a cover keeps: the focal points, else the sides that are named, else what is `smart`.
    private var gravity: String {
        if let focal { return Self.focal(focal.x, focal.y) }
        let name = Self.compass(options.horizontal, options.vertical)
        if options.horizontal != nil || options.vertical != nil {
            return name == "center" ? "" : ":gravity=\(name)"
        }
        return options.isSmart ? ":gravity=smart" : ""
    }

    /// A gravity of ours by the sides that are named.
    static func compass(_ horizontal: String?, _ vertical: String?) -> String {
        let row = ["top": "north", "bottom": "south"][vertical ?? ""] ?? ""
        let column = ["left": "west", "right": "east"][horizontal ?? ""] ?? ""
        return row + column == "" ? "center" : row + column
    }

    /// The middle of all focal areas, weighted by their sizes, in the picture as it is after the crop.
    var focal: (x: Double, y: Double)? {
        var (x, y, weight) = (0.0, 0.0, 0.0)
        for filter in filters where filter.name == "focal" {
            if isImagor, let point = Self.point(filter.arguments) { return point }
            // thumbor knows whole pixels; what follows them does not count.
            let isWhole = filter.arguments.first?.prefixMatch(of: /[0-9]+x[0-9]+:[0-9]+x[0-9]+/) != nil
            guard isImagor || isWhole, let area = Self.area(filter.arguments) else { continue }
            let middle = ((area[0] + area[2]) / 2, (area[1] + area[3]) / 2)
            if isImagor, Self.areShares(area) { return middle }
            if let crop = cropped, !Self.areShares(crop) {
                guard (crop[0]...crop[2]).contains(middle.0), (crop[1]...crop[3]).contains(middle.1) else {
                    continue
                }
            }
            let size = (area[2] - area[0]) * (area[3] - area[1])
            x += middle.0 * size
            y += middle.1 * size
            weight += size
        }
        guard weight != 0 else { return nil }
        var origin = (0.0, 0.0)
        if let crop = cropped, !Self.areShares(crop) { origin = (crop[0], crop[1]) }
        return (x / weight - origin.0, y / weight - origin.1)
    }

    /// Two numbers: shares, or pixels if beyond 1.
    private static func point(_ arguments: [String]) -> (x: Double, y: Double)? {
        let numbers = arguments.compactMap(NumberText.decimal)
        guard arguments.count == 2, numbers.count == 2, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        return (numbers[0], numbers[1])
    }

    private static func focal(_ x: Double, _ y: Double) -> String {
        let (x, y, isShare) = (max(0, x), max(0, y), x <= 1 && y <= 1)
        let names = isShare ? ("fx", "fy") : ("px", "py")
        return ":gravity=focal:\(names.0)=\(NumberText.text(x)):\(names.1)=\(NumberText.text(y))"
    }

    /// `LEFTxTOP:RIGHTxBOTTOM` of a focal area that is not empty; what follows is not read.
    private static func area(_ arguments: [String]) -> [Double]? {
        guard arguments.count == 1 else { return nil }
        let corners = arguments[0].split(separator: ":", omittingEmptySubsequences: false)
        guard corners.count >= 2 else { return nil }
        var sides = corners.prefix(2).joined(separator: "x").split(separator: "x", maxSplits: 3)
        if let last = sides.popLast() {
            sides.append(last.prefix { $0.isASCII && ($0.isWholeNumber || $0 == ".") })
        }
        let numbers = sides.compactMap(NumberText.decimal)
        guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }), numbers[0] != numbers[2],
            numbers[1] != numbers[3]
        else { return nil }
        return numbers
    }

    /// Bars outside of everything (imagor).
    private mutating func addPadding() {
        guard let padding = options.padding, padding.contains(where: { $0 > 0 }) else { return }
        let color = filters.last { $0.name == "fill" }?.arguments.first.flatMap(Self.color)
        operations.append(
            "pad:\(padding[1]):\(padding[2]):\(padding[3]):\(padding[0])"
                + (color.map { ":color=\($0)" } ?? ""))
    }

    // MARK: - Filters without an effect

    /// Skips what thumbor skips, if the settings say so.
    mutating func skip(_ filter: ThumborFilter, _ reason: String) throws(TranslationError) {
        guard settings.lenient else { throw TranslationError(.invalid, filter.name, reason) }
        output.ignored.append("\(filter.name): \(reason)")
    }

    /// A colour as our grammar reads it: hexadecimal, with or without `#`, or a name.
    static func color(_ text: String) -> String? {
        let color = text.hasPrefix("#") ? text.dropFirst() : text[...]
        guard !color.isEmpty, color.utf8.count <= 30,
            color.utf8.allSatisfy(\.isASCIIAlphanumeric)
        else { return nil }
        return color.lowercased()
    }
}
