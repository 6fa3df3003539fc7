// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The options that are not about pixels, and those of the commercial version.
extension ImgproxyOption {
    static let output = [
        ImgproxyOption("format", "f", "ext") { (options, reading) throws(TranslationError) in
            options.format = try reading.format(0)
        },
        ImgproxyOption("quality", "q") { (options, reading) throws(TranslationError) in
            options.quality = try reading.integer(0, in: 0...100)
        },
        ImgproxyOption("format_quality", "fq", counts: 2...64) {
            (options, reading) throws(TranslationError) in
            guard reading.values.count.isMultiple(of: 2) else {
                throw reading.error("a quality follows each format")
            }
            for place in stride(from: 0, to: reading.values.count, by: 2) {
                let format = try reading.format(place)
                options.qualities[format] = try reading.integer(place + 1, in: 0...100)
            }
        },
        ImgproxyOption("max_bytes", "mb") { (options, reading) throws(TranslationError) in
            options.maxBytes = try reading.integer(0, in: 0...999_999_999)
        },
        ImgproxyOption("strip_metadata", "sm") { (options, reading) throws(TranslationError) in
            options.stripsMetadata = reading.flag(0)
        },
        ImgproxyOption("keep_copyright", "kcr") { (options, reading) throws(TranslationError) in
            options.keepsCopyright = reading.flag(0)
        },
        ImgproxyOption("strip_color_profile", "scp") { (options, reading) throws(TranslationError) in
            options.ignored.append("\(reading.option): pixels are sRGB, which needs no profile")
        },
        ImgproxyOption("preserve_hdr", "ph") { (options, reading) throws(TranslationError) in
            options.ignored.append("\(reading.option): pictures are made of 8 bits a sample")
        },
        ImgproxyOption("enforce_thumbnail", "eth") { (options, reading) throws(TranslationError) in
            options.ignored.append("\(reading.option): the picture itself is decoded")
        },
        ImgproxyOption("skip_processing", "skp", counts: 1...64) {
            (options, reading) throws(TranslationError) in
            for place in reading.values.indices {
                let format = try reading.format(place)
                if !options.skipped.contains(format) { options.skipped.append(format) }
            }
        },
        ImgproxyOption("raw") { (options, reading) throws(TranslationError) in
            options.isRaw = reading.flag(0)
        },
    ]

    static let delivery = [
        // Read where presets are known.
        ImgproxyOption(preset, "pr", counts: 1...64) { (_, _) throws(TranslationError) in },
        ImgproxyOption("cachebuster", "cb") { (_, _) throws(TranslationError) in },
        ImgproxyOption("expires", "exp") { (options, reading) throws(TranslationError) in
            options.expires = Int64(try reading.integer(0, in: Int.min...Int.max))
        },
        ImgproxyOption("filename", "fn", counts: 1...2) { (options, reading) throws(TranslationError) in
            guard let text = reading[0] else { return options.filename = nil }
            guard reading.flag(1) else { return options.filename = percentDecodedText(text) ?? text }
            guard
                let decoded = LenientBase64.decode(text.utf8).flatMap({
                    String(validating: $0, as: UTF8.self)
                })
            else { throw reading.error("the name is not base64url of UTF-8") }
            options.filename = decoded
        },
        ImgproxyOption("return_attachment", "att") { (options, reading) throws(TranslationError) in
            options.isAttachment = reading.flag(0)
        },
    ]

    static let limits = [
        ImgproxyOption("max_src_resolution", "msr", isAboutLimits: true) {
            (_, reading) throws(TranslationError) in
            throw unlimited(reading, "limits.sourcePixels")
        },
        ImgproxyOption("max_src_file_size", "msfs", isAboutLimits: true) {
            (_, reading) throws(TranslationError) in
            throw unlimited(reading, "fetch.maxBytes")
        },
        ImgproxyOption("max_animation_frames", "maf", isAboutLimits: true) {
            (options, reading) throws(TranslationError) in
            options.hasOneFrame = try reading.integer(0, in: 1...100_000) == 1
            if !options.hasOneFrame {
                options.ignored.append("\(reading.option): limits.frames holds")
            }
        },
        ImgproxyOption("max_animation_frame_resolution", "mafr", isAboutLimits: true) {
            (options, reading) throws(TranslationError) in
            _ = try reading.number(0, in: 0...ImgproxyArguments.maxNumber)
            options.ignored.append("\(reading.option): limits.sourcePixels holds")
        },
        ImgproxyOption("max_result_dimension", "mrd", isAboutLimits: true) {
            (options, reading) throws(TranslationError) in
            options.maxSide = max(0, try reading.integer(0, in: Int.min...Int.max))
        },
    ]

    private static func unlimited(_ reading: ImgproxyArguments, _ setting: String) -> TranslationError {
        TranslationError(.unsupported, reading.option, "the setting \(setting) bounds every picture")
    }

    static let commercial = [
        ImgproxyOption("background_alpha", "bga", isCommercial: true) {
            (options, reading) throws(TranslationError) in
            options.pipeline.backgroundAlpha = try reading.number(0, in: 0...1)
        },
        ImgproxyOption("contrast", "co", isCommercial: true) { (options, reading) throws(TranslationError) in
            try adjust("contrast", &options, reading)
        },
        ImgproxyOption("saturation", "sa", isCommercial: true) {
            (options, reading) throws(TranslationError) in
            try adjust("saturation", &options, reading)
        },
        ImgproxyOption("duotone", "dt", counts: 1...3, isCommercial: true) {
            (options, reading) throws(TranslationError) in
            guard try reading.number(0, in: 0...1) == 1 else {
                throw TranslationError(.unsupported, reading.option, "only with an intensity of 1")
            }
            let shadow = reading[1] == nil ? "000000" : try reading.color(1)
            let highlight = reading[2] == nil ? "ffffff" : try reading.color(2)
            options.pipeline.adjustments["duotone"] = "\(shadow):\(highlight)"
        },
        ImgproxyOption("disable_animation", "da", isCommercial: true) {
            (options, reading) throws(TranslationError) in
            options.hasOneFrame = reading.flag(0)
        },
        ImgproxyOption("page", "pg", isCommercial: true) { (options, reading) throws(TranslationError) in
            options.frame = try reading.integer(0, in: 0...99_999)
        },
    ]

    /// A factor of the encoded colours, 1 for none.
    private static func adjust(
        _ operation: String, _ options: inout ImgproxyOptions, _ reading: ImgproxyArguments
    ) throws(TranslationError) {
        let amount = try reading.number(0, in: 0...10)
        options.pipeline.adjustments[operation] = amount == 1 ? nil : OperationText.decimal(amount)
    }
}
