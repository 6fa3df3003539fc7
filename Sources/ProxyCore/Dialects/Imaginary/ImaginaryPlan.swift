// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Builds the translation of one operation, or of a pipeline of them.
struct ImaginaryPlan {
    private let settings: Imaginary.Settings
    private var operations: [String] = []
    private var format: String?
    private var output = Translation()
    /// Whether all operations so far leave EXIF orientation alone; nil before the first.
    private var ignoresOrientation: Bool?

    private static let maxOperations = 10

    init(_ settings: Imaginary.Settings) {
        self.settings = settings
    }

    /// The parameters of all that was added, but for the source.
    var translation: Translation {
        var result = output
        var operations = operations
        if ignoresOrientation == true { operations.insert("orient:none", at: 0) }
        if !operations.isEmpty { result["transform"] = operations.joined(separator: ",") }
        result["format"] = format ?? "source"
        // Only the first frame of an animation is read.
        result["animate"] = "first"
        if let format {
            if !OutputFormats.withQuality.contains(format) { result["quality"] = nil }
            if !OutputFormats.progressive.contains(format) { result["progressive"] = nil }
        }
        return result
    }

    /// Adds the operations of `/pipeline`, each of which works on the result of the one before.
    mutating func addAll(_ query: ImaginaryQuery) throws(TranslationError) {
        guard let text = query.text("operations") else {
            throw TranslationError(.invalid, "operations", "is missing")
        }
        let list: JSONValue
        do {
            var parser = JSONParser(Array(text.utf8))
            list = try parser.parse()
        } catch {
            throw TranslationError(.invalid, "operations", "is no JSON: \(error.message)")
        }
        guard case .array(let items) = list, (1...Self.maxOperations).contains(items.count) else {
            throw TranslationError(.invalid, "operations", "is a list of 1 to \(Self.maxOperations)")
        }
        for item in items { try addItem(item) }
    }

    private mutating func addItem(_ item: JSONValue) throws(TranslationError) {
        guard case .object(let members) = item, case .string(let name)? = item["operation"] else {
            throw TranslationError(.invalid, "operations", "each is an object with an 'operation'")
        }
        for member in members where !["operation", "params", "ignore_failure"].contains(member.name) {
            throw TranslationError(.invalid, member.name.excerpt, "is no member of an operation")
        }
        guard Operation(rawValue: name.lowercased()) != nil else {
            throw TranslationError(.invalid, "operations", "there is no operation '\(name.excerpt)'")
        }
        try add(name.lowercased(), ImaginaryQuery(item["params"]))
    }

    /// The operations that make a picture.
    private enum Operation: String {
        case resize, fit, crop, smartcrop, enlarge, extract, thumbnail, zoom, convert, rotate, autorotate,
            flip, flop, blur, watermark, watermarkimage
    }

    /// Adds one operation: turns first, then the size, then effects, as imaginary does.
    mutating func add(_ name: String, _ query: ImaginaryQuery) throws(TranslationError) {
        guard let operation = Operation(rawValue: name) else {
            throw TranslationError(.notFound, "", "there is no operation '\(name.excerpt)'")
        }
        let keepsOrientation = try query.flag("norotation") ?? false
        ignoresOrientation = (ignoresOrientation ?? true) && keepsOrientation
        try addOutput(query, operation)
        // Nothing else is read there.
        guard operation != .autorotate else { return }
        try addTurns(query, operation)
        try addSize(query, operation)
        try addEffects(query, operation)
    }

    // MARK: - Turns

    private mutating func addTurns(
        _ query: ImaginaryQuery, _ operation: Operation
    ) throws(TranslationError) {
        let angle = try query.count("rotate")
        guard angle != nil || operation != .rotate else { throw Self.missing("rotate") }
        let quarters = (angle ?? 0) / 90 % 4
        if quarters > 0 { operations.append("rotate:\(quarters * 90)") }
        let (flip, flop) = (try query.flag("flip") ?? false, try query.flag("flop") ?? false)
        // The other way round than in most programs.
        if flip || operation == .flip { operations.append("flip:h") }
        if flop || operation == .flop { operations.append("flip:v") }
    }

    // MARK: - Sizes

    private static func missing(_ name: String) -> TranslationError {
        TranslationError(.invalid, name, "is missing")
    }

    /// Of two numbers that are both needed.
    private static func missing(
        _ first: String, _ given: Int?, _ second: String, _ other: Int?
    ) -> TranslationError {
        guard given == nil, other == nil else { return missing(given == nil ? first : second) }
        return TranslationError(.invalid, "\(first) and \(second)", "are missing")
    }

    /// The wanted sides; one of them may follow from `aspectratio`.
    private func sides(_ query: ImaginaryQuery) throws(TranslationError) -> (width: Int?, height: Int?) {
        let (width, height) = (try query.count("width"), try query.count("height"))
        guard let ratio = query.text("aspectratio"), (width == nil) != (height == nil) else {
            return (width, height)
        }
        let parts = ratio.split(separator: ":", omittingEmptySubsequences: false).map(NumberText.decimal)
        guard parts.count == 2, let across = parts[0], let down = parts[1], across > 0, down > 0 else {
            throw TranslationError(.invalid, "aspectratio", "is two numbers: 16:9")
        }
        let other =
            width.map { Double($0) / across * down } ?? Double(height ?? 0) / down * across
        let rounded = max(1, Int(min(other, 1_000_000).rounded(.down)))
        return (width ?? rounded, height ?? rounded)
    }

    private mutating func addSize(_ query: ImaginaryQuery, _ operation: Operation) throws(TranslationError) {
        let (width, height) = try sides(query)
        let size = "\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"
        let isWhole = width != nil && height != nil
        switch operation {
        case .resize:
            guard width != nil || height != nil else { throw Self.missing("width or height") }
            try addResize(size, isWhole: isWhole, query)
        case .fit:
            guard isWhole else { throw Self.missing("width", width, "height", height) }
            operations.append("resize:\(size)")
        case .crop, .smartcrop:
            guard width != nil || height != nil else { throw Self.missing("width or height") }
            let gravity = operation == .smartcrop ? ":gravity=smart" : Self.gravity(query)
            // One side alone is cut from the picture as it is.
            let cut = "crop:\(width.map(String.init) ?? "100pc")x\(height.map(String.init) ?? "100pc")"
            operations.append((isWhole ? "resize:\(size):cover:enlarge=partly" : cut) + gravity)
        case .enlarge:
            guard isWhole else { throw Self.missing("width", width, "height", height) }
            let mode = try query.flag("nocrop") ?? false ? "" : ":cover"
            operations.append("resize:\(size)\(mode):enlarge=1\(mode.isEmpty ? "" : Self.gravity(query))")
        case .extract:
            guard width == nil, height == nil else {
                throw TranslationError(.invalid, "width", "does not go with 'areawidth' and 'areaheight'")
            }
            try addArea(query)
        case .zoom: try addZoom(to: width != nil || height != nil ? size : nil, isWhole: isWhole, query)
        case .thumbnail:
            guard width != nil || height != nil else { throw Self.missing("width or height") }
            addSqueeze(size, isWhole)
        case .convert, .rotate, .flip, .flop, .blur, .watermark, .watermarkimage, .autorotate:
            if width != nil || height != nil { addSqueeze(size, isWhole) }
        }
    }

    /// Both sides without proportions; not where both would grow.
    private mutating func addSqueeze(_ size: String, _ isWhole: Bool) {
        operations.append("resize:\(size)\(isWhole ? ":fill:enlarge=partly" : "")")
    }

    private mutating func addResize(
        _ size: String, isWhole: Bool, _ query: ImaginaryQuery
    ) throws(TranslationError) {
        guard try !(query.flag("force") ?? false) else { return addForced(size, isWhole) }
        guard isWhole else { return operations.append("resize:\(size)") }
        guard try query.flag("nocrop") ?? true else {
            return operations.append("resize:\(size):cover:enlarge=partly\(Self.gravity(query))")
        }
        operations.append("resize:\(size)")
        operations.append("extend:\(size):\(try filling(query)):enlarge=0")
    }

    /// Both sides without proportions, also where they grow.
    private mutating func addForced(_ size: String, _ isWhole: Bool) {
        operations.append("resize:\(size)\(isWhole ? ":fill" : ""):enlarge=1")
    }

    private func filling(_ query: ImaginaryQuery) throws(TranslationError) -> String {
        switch query.text("extend")?.lowercased() {
        case nil, "copy", "lastpixel": "fill=edge"
        case "white": "color=fff"
        case "black": "color=000"
        case "background": "color=\(try query.color("background") ?? "000")"
        default: "fill=mirror"
        }
    }

    private static func gravity(_ query: ImaginaryQuery) -> String {
        let name = query.text("gravity")?.lowercased() ?? ""
        return ["north", "south", "east", "west", "smart"].contains(name) ? ":gravity=\(name)" : ""
    }

    private mutating func addArea(_ query: ImaginaryQuery) throws(TranslationError) {
        let (wide, high) = (try query.count("areawidth"), try query.count("areaheight"))
        guard let width = wide, let height = high else {
            throw Self.missing("areawidth", wide, "areaheight", high)
        }
        let (left, top) = (try query.count("left") ?? 0, try query.count("top") ?? 0)
        operations.append("crop:\(width)x\(height):x=\(left):y=\(top):strict=1")
    }

    /// Every pixel becomes `factor` + 1 pixels each way, unless a size is given, which the result has then; of that the
    /// area is cut, which is read with its corner alone.
    private mutating func addZoom(
        to size: String?, isWhole: Bool, _ query: ImaginaryQuery
    ) throws(TranslationError) {
        guard let factor = try query.count("factor") else { throw Self.missing("factor") }
        guard factor <= 9 else { throw TranslationError(.unsupported, "factor", "is at most 9") }
        let percent = "\((factor + 1) * 100)pc"
        addForced(size ?? "\(percent)x\(percent)", size == nil || isWhole)
        let (left, top) = (try query.count("left"), try query.count("top"))
        if left != nil || top != nil { try addArea(query) }
    }

    // MARK: - Effects

    private mutating func addEffects(
        _ query: ImaginaryQuery, _ operation: Operation
    ) throws(TranslationError) {
        let sigma = try query.number("sigma") ?? 0
        let amplitude = try query.number("minampl") ?? 0
        guard operation != .blur || sigma > 0 || amplitude > 0 else { throw Self.missing("sigma") }
        if sigma > 0 { operations.append("blur:\(NumberText.text(min(max(0.1, sigma), 250)))") }
        if operation == .watermark { try addText(query) }
        if operation == .watermarkimage { try addImage(query) }
        if query.text("colorspace")?.lowercased() == "bw" { operations.append("grayscale") }
        if let color = try query.color("background"), color != "000000",
            query.text("extend")?.lowercased() != "background"
        {
            operations.append("background:\(color)")
        } else if format == "jpeg", operation != .autorotate {
            operations.append("background:000")
        }
    }

    private mutating func addText(_ query: ImaginaryQuery) throws(TranslationError) {
        guard let text = query.text("text") else { throw Self.missing("text") }
        let opacity = min(try query.number("opacity") ?? 0.25, 1)
        let color = try query.color("color") ?? "ffffff"
        let alpha = UInt8(clamping: Int((opacity * 255).rounded())).hexadecimal
        let points = (query.text("font") ?? "sans 10").split(separator: " ").compactMap { Int($0) }.last ?? 10
        // Letters are measured in points, 72 to an inch.
        let dots = try query.count("dpi") ?? 150
        let size = max(1, min(max(points, 1), 1_000) * min(dots, 1_000) / 72)
        let margin = try query.count("margin") ?? 0
        let tile = try query.flag("noreplicate") ?? false ? "" : ":tile=1"
        operations.append(
            "text:text64=\(Base64.encodeURL(text.utf8)):size=\(min(size, 2_000)):color=\(color)\(alpha)"
                + ":gravity=northwest:x=\(margin):y=\(margin)\(tile)")
    }

    private mutating func addImage(_ query: ImaginaryQuery) throws(TranslationError) {
        guard let url = query.text("image") else { throw Self.missing("image") }
        guard let name = settings.watermarks[url] else {
            throw TranslationError(
                .unsupported, "image", "name '\(url.excerpt)' in 'watermarks' of the dialect")
        }
        let (left, top) = (try query.count("left") ?? 0, try query.count("top") ?? 0)
        let opacity = min(try query.number("opacity") ?? 1, 1)
        operations.append(
            "watermark:\(name):northwest:\(left):\(top)"
                + (opacity < 1 ? ":opacity=\(NumberText.text(opacity))" : ""))
    }

    // MARK: - Output

    private mutating func addOutput(
        _ query: ImaginaryQuery, _ operation: Operation
    ) throws(TranslationError) {
        let type = query.text("type")?.lowercased()
        guard type != nil || operation != .convert else { throw Self.missing("type") }
        switch type {
        case nil: break
        case "auto" where operation != .convert: format = "auto:webp+png+jpeg"
        case "jpeg", "png", "webp", "gif", "tiff": format = type
        default: throw TranslationError(.invalid, "type", "is one of jpeg, png, webp, gif, tiff")
        }
        output["quality"] = try query.count("quality").map { "\(min($0, 100))" }
        output["progressive"] = try query.flag("interlace") ?? false ? "1" : nil
        // Checked like all numbers and switches; they say how the file is packed, or are always so here.
        _ = try query.count("compression")
        for name in ["palette", "stripmeta", "noprofile"] { _ = try query.flag(name) }
    }
}
