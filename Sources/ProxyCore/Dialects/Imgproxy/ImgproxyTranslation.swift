// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Writes options as parameters: imgproxy applies them in a fixed order, whatever the order in the URL.
struct ImgproxyTranslation {
    private let options: ImgproxyOptions
    private let source: ImgproxySource
    private let settings: ImgproxyDialect.Settings
    /// The requested format; nil for none.
    private let format: String?

    init(
        _ options: ImgproxyOptions, _ source: ImgproxySource, _ settings: ImgproxyDialect.Settings
    ) throws(TranslationError) {
        self.options = options
        self.source = source
        self.settings = settings
        let fileExtension = options.isRaw ? nil : source.fileExtension
        format =
            try fileExtension.map { (text) throws(TranslationError) in
                try ImgproxyFormat.name(text, option: "extension")
            } ?? options.format
    }

    func translation(isSigned: Bool) throws(TranslationError) -> Translation {
        var result = Translation(isSigned: isSigned, ignored: options.ignored)
        result["url"] = source.url
        if !options.isRaw {
            var operations: [String] = []
            for pipeline in options.pipelines { operations += try transform(pipeline) }
            if !operations.isEmpty { result["transform"] = operations.joined(separator: ",") }
            result["format"] = format ?? (settings.autoFormat ? "auto" : "source")
            // A source that has the format already.
            let skipped = options.skipped.filter { format == nil || $0 == format }
            if !skipped.isEmpty { result["skip"] = skipped.joined(separator: ",") }
            result["quality"] = quality
            setMaxBytes(&result)
            // Named even where it is the default, so that a picture without a transform is written anew, too.
            result["metadata"] = options.stripsMetadata ? (options.keepsCopyright ? "strip" : "none") : "keep"
            if options.hasOneFrame { result["animate"] = "first" }
            result["frame"] = options.frame.map { "\($0)" }
        }
        // The bound of the parameter; beyond it is for ever.
        if options.expires > 0 { result["expires"] = "\(min(options.expires, 99_999_999_999))" }
        result["filename"] = filename
        if options.isAttachment { result["download"] = "1" }
        return result
    }

    // MARK: - Encoding

    private var quality: String? {
        if let format {
            guard OutputFormats.withQuality.contains(format) else { return nil }
            let quality = options.quality > 0 ? options.quality : options.qualities[format] ?? 0
            return quality > 0 ? "\(quality)" : nil
        }
        if options.quality > 0 { return "\(options.quality)" }
        let each = options.qualities.filter { OutputFormats.withQuality.contains($0.key) && $0.value > 0 }
        return each.isEmpty
            ? nil : each.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
    }

    private func setMaxBytes(_ result: inout Translation) {
        guard options.maxBytes > 0 else { return }
        if let format, !OutputFormats.withQuality.contains(format) {
            result.ignored.append("max_bytes: \(format) has no quality to lower")
        } else {
            result["max_bytes"] = "\(options.maxBytes)"
        }
    }

    /// The name under which it is saved, with the format's extension in place of `.*`.
    private var filename: String? {
        guard let name = options.filename ?? source.filename else { return nil }
        let plain = name.unicodeScalars.prefix(Self.maxNameLength).map { scalar in
            let isUsual =
                scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format
            return isUsual && scalar != "/" && scalar != "\\" ? Character(scalar) : "-"
        }
        return String(plain) + ".*"
    }

    /// In characters, each of which may take four bytes of the 255 of a name.
    private static let maxNameLength = 60

    // MARK: - Pixels

    private func transform(_ pipeline: ImgproxyOptions.Pipeline) throws(TranslationError) -> [String] {
        var operations: [String] = []
        if !pipeline.isTurnedByMetadata { operations.append("orient:none") }
        if let threshold = pipeline.trim.threshold { operations.append(text(pipeline.trim, threshold)) }
        // Sizes and gravities mean the turned picture.
        if pipeline.rotation != 0 { operations.append("rotate:\(pipeline.rotation)") }
        switch (pipeline.flipsHorizontally, pipeline.flipsVertically) {
        case (true, true): operations.append("flip:hv")
        case (true, false): operations.append("flip:h")
        case (false, true): operations.append("flip:v")
        case (false, false): break
        }
        if pipeline.crop.width > 0 || pipeline.crop.height > 0 {
            operations.append(text(pipeline.crop, pipeline.gravity))
        }
        if let resize = resize(pipeline) { operations.append(resize) }
        operations += adjustments(pipeline)
        operations += filters(pipeline)
        operations += canvas(pipeline)
        if (1...Int(ImgproxyArguments.maxNumber)).contains(options.maxSide) {
            operations.append("resize:\(options.maxSide)x\(options.maxSide)")
        }
        if pipeline.watermark.opacity > 0 { operations.append(try text(pipeline.watermark)) }
        return operations
    }

    private func text(_ trim: ImgproxyOptions.Trim, _ threshold: Double) -> String {
        var operation = OperationText("trim", NumberText.text(threshold))
        operation.set("color", trim.color)
        switch (trim.isEqualHorizontally, trim.isEqualVertically) {
        case (true, true): operation.set("equal", "hv")
        case (true, false): operation.set("equal", "h")
        case (false, true): operation.set("equal", "v")
        case (false, false): break
        }
        operation.set("keep", "1")
        return operation.text
    }

    private func text(_ crop: ImgproxyOptions.Crop, _ usual: ImgproxyOptions.Gravity) -> String {
        var operation = OperationText("crop", "\(Self.side(crop.width))x\(Self.side(crop.height))")
        Self.set(crop.gravity ?? usual, of: &operation)
        return operation.text
    }

    /// A side of a crop: all of it, a share of it, or whole pixels.
    private static func side(_ value: Double) -> String {
        switch value {
        case 0: "100pc"
        case ..<1: NumberText.percentage(value)
        default: "\(Int(value))"
        }
    }

    private static func set(_ gravity: ImgproxyOptions.Gravity, of operation: inout OperationText) {
        switch gravity.type {
        case "sm": operation.set("gravity", "smart")
        case "fp":
            operation.set("gravity", "focal")
            // Offsets of another gravity, which an empty coordinate keeps, may be pixels.
            operation.set("fx", NumberText.text(min(max(gravity.x, 0), 1)))
            operation.set("fy", NumberText.text(min(max(gravity.y, 0), 1)))
        default:
            let word = ImgproxyArguments.gravities[gravity.type] ?? "center"
            if word != "center" || gravity.x != 0 || gravity.y != 0 { operation.set("gravity", word) }
            setOffsets(gravity, "x", "y", of: &operation)
        }
    }

    private static func setOffsets(
        _ gravity: ImgproxyOptions.Gravity, _ x: String, _ y: String, of operation: inout OperationText
    ) {
        if gravity.x != 0 { operation.set(x, offset(gravity.x)) }
        if gravity.y != 0 { operation.set(y, offset(gravity.y)) }
    }

    /// Below 1 a share of the side, from 1 on pixels.
    private static func offset(_ value: Double) -> String {
        abs(value) < 1 ? NumberText.percentage(value) : NumberText.text(value)
    }

    private func resize(_ pipeline: ImgproxyOptions.Pipeline) -> String? {
        let hasSize = pipeline.width > 0 || pipeline.height > 0
        let hasMinimum = pipeline.minWidth > 0 || pipeline.minHeight > 0
        let isZoomed = pipeline.zoomX != 1 || pipeline.zoomY != 1
        guard hasSize || hasMinimum || isZoomed || pipeline.dpr != 1 else { return nil }
        var operation = OperationText("resize")
        if hasSize { operation.set("size", size(pipeline)) }
        let mode = mode(pipeline)
        if hasSize, mode != "fit" { operation.set("mode", mode) }
        if hasSize && mode != "fit" && mode != "fill" || hasMinimum {
            Self.set(pipeline.gravity, of: &operation)
        }
        if pipeline.mayEnlarge { operation.set("enlarge", "1") }
        if pipeline.minWidth > 0 { operation.set("minwidth", "\(pipeline.minWidth)") }
        if pipeline.minHeight > 0 { operation.set("minheight", "\(pipeline.minHeight)") }
        operation.set("zoomx", pipeline.zoomX, unless: 1)
        operation.set("zoomy", pipeline.zoomY, unless: 1)
        operation.set("density", pipeline.dpr, unless: 1)
        return operation.text
    }

    private func size(_ pipeline: ImgproxyOptions.Pipeline) -> String {
        // Without proportions, a side that is not given keeps the source's.
        let other = pipeline.resizing == .force ? "100pc" : ""
        let width = pipeline.width > 0 ? "\(pipeline.width)" : other
        let height = pipeline.height > 0 ? "\(pipeline.height)" : other
        return "\(width)x\(height)"
    }

    private func mode(_ pipeline: ImgproxyOptions.Pipeline) -> String {
        switch pipeline.resizing {
        case .fit: "fit"
        case .fill: pipeline.mayEnlarge ? "cover" : "crop"
        case .fillDown: "cover"
        case .force: "fill"
        case .auto: "auto"
        }
    }

    private func adjustments(_ pipeline: ImgproxyOptions.Pipeline) -> [String] {
        pipeline.adjustments.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
    }

    private func filters(_ pipeline: ImgproxyOptions.Pipeline) -> [String] {
        var operations: [String] = []
        // Smaller ones change nothing that could be seen.
        if pipeline.blur >= 0.1 { operations.append("blur:\(NumberText.text(pipeline.blur))") }
        if pipeline.sharpen >= 0.1 { operations.append("sharpen:\(NumberText.text(pipeline.sharpen))") }
        if pipeline.pixelate > 1 { operations.append("pixelate:\(pipeline.pixelate)") }
        return operations
    }

    /// Borders, and the colour of what they and the picture leave transparent.
    private func canvas(_ pipeline: ImgproxyOptions.Pipeline) -> [String] {
        var operations: [String] = []
        // What shows through a background gets it below, once.
        let color = pipeline.backgroundAlpha < 1 ? "transparent" : background(pipeline) ?? "transparent"
        let sides = (
            pipeline.width > 0 ? NumberText.text(Double(pipeline.width) * pipeline.zoomX) : "100pc",
            pipeline.height > 0 ? NumberText.text(Double(pipeline.height) * pipeline.zoomY) : "100pc"
        )
        let hasSize = pipeline.width > 0 || pipeline.height > 0
        if pipeline.extend.isOn, hasSize {
            var operation = OperationText("extend", "\(sides.0)x\(sides.1)")
            Self.set(pipeline.extend.gravity, of: &operation)
            operation.set("color", color)
            operation.set("grow", "1")
            operations.append(operation.text)
        } else if pipeline.extendRatio.isOn, pipeline.width > 0, pipeline.height > 0 {
            var operation = OperationText("extend", "\(sides.0)x\(sides.1)")
            Self.set(pipeline.extendRatio.gravity, of: &operation)
            operation.set("color", color)
            operation.set("ratio", "1")
            operations.append(operation.text)
        }
        let padding = pipeline.padding
        if padding != ImgproxyOptions.Padding() {
            var operation = OperationText(
                "pad", "\(padding.top)", "\(padding.right)", "\(padding.bottom)", "\(padding.left)")
            operation.set("color", color)
            operations.append(operation.text)
        }
        if let background = background(pipeline) { operations.append("background:\(background)") }
        return operations
    }

    private func background(_ pipeline: ImgproxyOptions.Pipeline) -> String? {
        guard let color = pipeline.background else { return nil }
        guard pipeline.backgroundAlpha < 1 else { return color }
        return color + UInt8(clamping: Int((pipeline.backgroundAlpha * 255).rounded())).hexadecimal
    }

    private func text(_ watermark: ImgproxyOptions.Watermark) throws(TranslationError) -> String {
        guard !settings.watermark.isEmpty else {
            throw TranslationError(
                .unsupported, "watermark", "the setting watermark of the dialect names the picture")
        }
        var operation = OperationText("watermark", settings.watermark)
        let position = watermark.position
        if position.type == "re" {
            operation.set("tile", "1")
            operation.set("gravity", "center")
            let gap = ImgproxyOptions.Gravity(x: max(0, position.x), y: max(0, position.y))
            Self.setOffsets(gap, "gapx", "gapy", of: &operation)
        } else {
            operation.set("gravity", ImgproxyArguments.gravities[position.type] ?? "center")
            Self.setOffsets(position, "x", "y", of: &operation)
        }
        if watermark.scale > 0 {
            operation.set("scale", NumberText.text(min(max(watermark.scale, 0.001), 10)))
        }
        operation.set("opacity", watermark.opacity, unless: 1)
        return operation.text
    }
}
