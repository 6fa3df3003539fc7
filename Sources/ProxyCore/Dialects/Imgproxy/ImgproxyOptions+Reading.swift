// SPDX-License-Identifier: Apache-2.0

import Primitives

extension ImgproxyOptions {
    /// Sets what an option says.
    ///
    /// - Parameter reading: as many arguments as the option may have.
    mutating func set(_ option: ImgproxyOption, _ reading: ImgproxyArguments) throws(TranslationError) {
        switch option {
        case .resize:
            if let type = reading[0] { pipeline.resizing = try reading.resizing(type) }
            try setSize(reading.dropping(1))
        case .size: try setSize(reading)
        case .resizingType: pipeline.resizing = try reading.resizing(reading.text(0))
        case .width: pipeline.width = try reading.side(0)
        case .height: pipeline.height = try reading.side(0)
        case .minWidth: pipeline.minWidth = try reading.side(0)
        case .minHeight: pipeline.minHeight = try reading.side(0)
        case .zoom:
            pipeline.zoomX = try reading.positive(0)
            pipeline.zoomY = reading.values.count == 2 ? try reading.positive(1) : pipeline.zoomX
        case .dpr: pipeline.dpr = try reading.positive(0)
        case .enlarge: pipeline.mayEnlarge = reading.flag(0)
        case .gravity: pipeline.gravity = try reading.gravity(replacing: pipeline.gravity)
        case .crop: try setCrop(reading)
        case .trim: try setTrim(reading)

        case .extend: try pipeline.extend.set(reading)
        case .extendRatio: try pipeline.extendRatio.set(reading)
        case .padding: try setPadding(reading)
        case .autoRotate: pipeline.isTurnedByMetadata = reading.flag(0)
        case .rotate:
            let angle = try reading.integer(0, in: 0...360_000)
            guard angle.isMultiple(of: 90) else { throw reading.error("it is a multiple of 90") }
            pipeline.rotation = angle % 360
        case .flip:
            if reading[0] != nil { pipeline.flipsHorizontally = reading.flag(0) }
            if reading[1] != nil { pipeline.flipsVertically = reading.flag(1) }

        case .background: try setBackground(reading)
        case .blur: pipeline.blur = try reading.number(0, in: 0...ImgproxyArguments.maxNumber)
        case .sharpen: pipeline.sharpen = try reading.number(0, in: 0...ImgproxyArguments.maxNumber)
        case .pixelate: pipeline.pixelate = try reading.side(0)
        case .watermark: try setWatermark(reading)

        case .format: format = try reading.format(0)
        case .quality: quality = try reading.integer(0, in: 0...100)
        case .formatQuality: try setQualities(reading)
        case .maxBytes: maxBytes = try reading.integer(0, in: 0...999_999_999)
        case .stripMetadata: stripsMetadata = reading.flag(0)
        case .keepCopyright: keepsCopyright = reading.flag(0)
        case .stripProfile: ignored.append("\(reading.option): pixels are sRGB, which needs no profile")
        case .preserveHDR: ignored.append("\(reading.option): pictures are made of 8 bits a sample")
        case .enforceThumbnail: ignored.append("\(reading.option): the picture itself is decoded")
        case .skipProcessing:
            for place in reading.values.indices {
                let format = try reading.format(place)
                if !skipped.contains(format) { skipped.append(format) }
            }
        case .raw: isRaw = reading.flag(0)

        // Presets are read where they are known.
        case .preset, .cachebuster: break
        case .expires: expires = Int64(try reading.integer(0, in: Int.min...Int.max))
        case .filename: try setFilename(reading)
        case .returnAttachment: isAttachment = reading.flag(0)

        case .maxSourceResolution: throw reading.unlimited("limits.sourcePixels")
        case .maxSourceFileSize: throw reading.unlimited("fetch.maxBytes")
        case .maxFrames:
            hasOneFrame = try reading.integer(0, in: 1...100_000) == 1
            if !hasOneFrame { ignored.append("\(reading.option): limits.frames holds") }
        case .maxFrameResolution:
            _ = try reading.number(0, in: 0...ImgproxyArguments.maxNumber)
            ignored.append("\(reading.option): limits.sourcePixels holds")
        case .maxResultDimension: maxSide = max(0, try reading.integer(0, in: Int.min...Int.max))

        case .backgroundAlpha: pipeline.backgroundAlpha = try reading.number(0, in: 0...1)
        case .contrast: try adjust("contrast", reading)
        case .saturation: try adjust("saturation", reading)
        case .duotone: try setDuotone(reading)
        case .disableAnimation: hasOneFrame = reading.flag(0)
        case .page: frame = try reading.integer(0, in: 0...99_999)
        }
    }

    /// Width, height, enlarge, extend and its gravity; an empty one keeps what was set.
    private mutating func setSize(_ reading: ImgproxyArguments) throws(TranslationError) {
        if reading[0] != nil { pipeline.width = try reading.side(0) }
        if reading[1] != nil { pipeline.height = try reading.side(1) }
        if reading[2] != nil { pipeline.mayEnlarge = reading.flag(2) }
        if reading[3] != nil { try pipeline.extend.set(reading.dropping(3)) }
    }

    private mutating func setCrop(_ reading: ImgproxyArguments) throws(TranslationError) {
        let side = 0...ImgproxyArguments.maxNumber
        pipeline.crop.width = try reading.number(0, in: side)
        if reading.values.count > 1 { pipeline.crop.height = try reading.number(1, in: side) }
        if reading.values.count > 2 {
            let set = pipeline.crop.gravity ?? Gravity()
            pipeline.crop.gravity = try reading.dropping(2).gravity(replacing: set)
        }
    }

    private mutating func setTrim(_ reading: ImgproxyArguments) throws(TranslationError) {
        let most = ImgproxyArguments.maxNumber
        let threshold = reading[0] == nil ? nil : try reading.number(0, in: -most...most)
        // A negative one is the default there.
        pipeline.trim.threshold = threshold.map { $0 < 0 ? 10 : min($0, 255) }
        pipeline.trim.color = reading[1] == nil ? nil : try reading.color(1)
        if reading[2] != nil { pipeline.trim.isEqualHorizontally = reading.flag(2) }
        if reading[3] != nil { pipeline.trim.isEqualVertically = reading.flag(3) }
    }

    private mutating func setPadding(_ reading: ImgproxyArguments) throws(TranslationError) {
        var padding = pipeline.padding
        if reading[0] != nil { padding.top = try reading.side(0) }
        padding.right = reading[1] == nil ? padding.top : try reading.side(1)
        padding.bottom = reading[2] == nil ? padding.top : try reading.side(2)
        padding.left = reading[3] == nil ? padding.right : try reading.side(3)
        pipeline.padding = padding
    }

    private mutating func setBackground(_ reading: ImgproxyArguments) throws(TranslationError) {
        switch reading.values.count {
        case 1: pipeline.background = reading[0] == nil ? nil : try reading.color(0)
        case 3:
            var color = ""
            for place in 0..<3 {
                let level = try reading.integer(place, in: 0...255)
                color += UInt8(clamping: level).hexadecimal
            }
            pipeline.background = color
        default: throw reading.error("it has one argument, or three")
        }
    }

    /// The last two arguments are of the commercial version.
    private mutating func setWatermark(_ reading: ImgproxyArguments) throws(TranslationError) {
        var watermark = pipeline.watermark
        watermark.opacity = try reading.number(0, in: 0...1)
        if let position = reading[1] {
            guard position == "re" || ImgproxyArguments.gravities[position] != nil else {
                throw reading.error("there is no position '\(position)'")
            }
            watermark.position.type = position
        }
        watermark.position.x = try reading.offset(2, otherwise: watermark.position.x)
        watermark.position.y = try reading.offset(3, otherwise: watermark.position.y)
        if reading[4] != nil { watermark.scale = try reading.positive(4) }
        pipeline.watermark = watermark
    }

    private mutating func setQualities(_ reading: ImgproxyArguments) throws(TranslationError) {
        guard reading.values.count.isMultiple(of: 2) else {
            throw reading.error("a quality follows each format")
        }
        for place in stride(from: 0, to: reading.values.count, by: 2) {
            let format = try reading.format(place)
            qualities[format] = try reading.integer(place + 1, in: 0...100)
        }
    }

    private mutating func setFilename(_ reading: ImgproxyArguments) throws(TranslationError) {
        guard let text = reading[0] else { return filename = nil }
        guard reading.flag(1) else { return filename = percentDecodedText(text) ?? text }
        guard
            let decoded = LenientBase64.decode(text.utf8).flatMap({ String(validating: $0, as: UTF8.self) })
        else { throw reading.error("the name is not base64url of UTF-8") }
        filename = decoded
    }

    private mutating func setDuotone(_ reading: ImgproxyArguments) throws(TranslationError) {
        guard try reading.number(0, in: 0...1) == 1 else {
            throw TranslationError(.unsupported, reading.option, "only with an intensity of 1")
        }
        let shadow = reading[1] == nil ? "000000" : try reading.color(1)
        let highlight = reading[2] == nil ? "ffffff" : try reading.color(2)
        pipeline.adjustments["duotone"] = "\(shadow):\(highlight)"
    }

    /// A factor of the encoded colours, 1 for none.
    private mutating func adjust(
        _ operation: String, _ reading: ImgproxyArguments
    ) throws(TranslationError) {
        let amount = try reading.number(0, in: 0...10)
        pipeline.adjustments[operation] = amount == 1 ? nil : NumberText.text(amount)
    }
}

extension ImgproxyOptions.Extend {
    /// A switch and a gravity.
    fileprivate mutating func set(_ reading: ImgproxyArguments) throws(TranslationError) {
        isOn = reading.flag(0)
        let place = reading.dropping(1)
        guard !place.values.isEmpty else { return }
        gravity = try place.gravity(replacing: gravity, isPlace: true)
    }
}

extension ImgproxyArguments {
    fileprivate func resizing(_ text: String) throws(TranslationError) -> ImgproxyOptions.Resizing {
        guard let type = ImgproxyOptions.Resizing(rawValue: text) else {
            throw error("the type is one of fit, fill, fill-down, force, auto")
        }
        return type
    }

    fileprivate func unlimited(_ setting: String) -> TranslationError {
        TranslationError(.unsupported, option, "the setting \(setting) bounds every picture")
    }
}
