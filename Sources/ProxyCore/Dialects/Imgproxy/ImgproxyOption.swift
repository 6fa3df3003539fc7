// SPDX-License-Identifier: Apache-2.0

import Primitives

/// One option of imgproxy: its names, how many arguments it has, and what it sets.
struct ImgproxyOption: Sendable {
    typealias Reader =
        @Sendable (inout ImgproxyOptions, ImgproxyArguments) throws(TranslationError) -> Void

    let names: [String]
    let counts: ClosedRange<Int>
    /// Whether only the commercial version has it.
    let isCommercial: Bool
    let isAboutLimits: Bool
    let read: Reader

    init(
        _ names: String..., counts: ClosedRange<Int> = 1...1, isCommercial: Bool = false,
        isAboutLimits: Bool = false, _ read: @escaping Reader
    ) {
        self.names = names
        self.counts = counts
        self.isCommercial = isCommercial
        self.isAboutLimits = isAboutLimits
        self.read = read
    }

    /// The first name.
    var name: String { names[0] }

    /// The option that stands for others.
    static let preset = "preset"

    /// Every option by each of its names.
    static let byName: [String: ImgproxyOption] = {
        let all = geometry + canvas + colours + output + delivery + limits + commercial
        return Dictionary(uniqueKeysWithValues: all.flatMap { option in option.names.map { ($0, option) } })
    }()

    /// Options of the commercial version without an equivalent.
    static let untranslated: Set<String> = [
        "resizing_algorithm", "ra", "adjust", "a", "brightness", "br", "crop_aspect_ratio", "crop_ar", "car",
        "objects_position", "op", "blur_areas", "ba", "blur_detections", "bd", "draw_detections", "dd",
        "colorize", "col", "gradient", "gr", "monochrome", "mc", "unsharp_masking", "ush", "watermark_url",
        "wmu", "watermark_text", "wmt", "watermark_size", "wms", "watermark_rotate", "wm_rot", "wmr",
        "watermark_shadow", "wmsh", "style", "st", "dpi", "autoquality", "aq", "color_profile", "cp", "icc",
        "jpeg_options", "jpgo", "png_options", "pngo", "webp_options", "webpo", "avif_options", "avifo",
        "pages", "pgs", "video_thumbnail_second", "vts", "video_thumbnail_keyframes", "vtk",
        "video_thumbnail_tile", "vtt", "video_thumbnail_animation", "vta", "fallback_image_url", "fiu",
        "hashsum", "hs",
    ]

    // MARK: - Sizes

    private static let geometry = [
        ImgproxyOption("resize", "rs", counts: 0...8) { (options, reading) throws(TranslationError) in
            if let type = reading[0] { options.pipeline.resizing = try resizing(type, reading) }
            try readSize(&options, reading.dropping(1))
        },
        ImgproxyOption("size", "s", counts: 0...7) { (options, reading) throws(TranslationError) in
            try readSize(&options, reading)
        },
        ImgproxyOption("resizing_type", "rt") { (options, reading) throws(TranslationError) in
            options.pipeline.resizing = try resizing(reading.text(0), reading)
        },
        ImgproxyOption("width", "w") { (options, reading) throws(TranslationError) in
            options.pipeline.width = try reading.side(0)
        },
        ImgproxyOption("height", "h") { (options, reading) throws(TranslationError) in
            options.pipeline.height = try reading.side(0)
        },
        ImgproxyOption("min-width", "mw") { (options, reading) throws(TranslationError) in
            options.pipeline.minWidth = try reading.side(0)
        },
        ImgproxyOption("min-height", "mh") { (options, reading) throws(TranslationError) in
            options.pipeline.minHeight = try reading.side(0)
        },
        ImgproxyOption("zoom", "z", counts: 1...2) { (options, reading) throws(TranslationError) in
            options.pipeline.zoomX = try reading.positive(0)
            options.pipeline.zoomY =
                reading.values.count == 2 ? try reading.positive(1) : options.pipeline.zoomX
        },
        ImgproxyOption("dpr") { (options, reading) throws(TranslationError) in
            options.pipeline.dpr = try reading.positive(0)
        },
        ImgproxyOption("enlarge", "el") { (options, reading) throws(TranslationError) in
            options.pipeline.mayEnlarge = reading.flag(0)
        },
        ImgproxyOption("gravity", "g", counts: 1...3) { (options, reading) throws(TranslationError) in
            options.pipeline.gravity = try reading.gravity(replacing: options.pipeline.gravity)
        },
        ImgproxyOption("crop", "c", counts: 1...5) { (options, reading) throws(TranslationError) in
            let side = 0...ImgproxyArguments.maxNumber
            options.pipeline.crop.width = try reading.number(0, in: side)
            if reading.values.count > 1 { options.pipeline.crop.height = try reading.number(1, in: side) }
            if reading.values.count > 2 {
                let set = options.pipeline.crop.gravity ?? ImgproxyOptions.Gravity()
                options.pipeline.crop.gravity = try reading.dropping(2).gravity(replacing: set)
            }
        },
        ImgproxyOption("trim", "t", counts: 1...4) { (options, reading) throws(TranslationError) in
            let most = ImgproxyArguments.maxNumber
            let threshold = reading[0] == nil ? nil : try reading.number(0, in: -most...most)
            // A negative one is the default there.
            options.pipeline.trim.threshold = threshold.map { $0 < 0 ? 10 : min($0, 255) }
            options.pipeline.trim.color = reading[1] == nil ? nil : try reading.color(1)
            if reading[2] != nil { options.pipeline.trim.isEqualHorizontally = reading.flag(2) }
            if reading[3] != nil { options.pipeline.trim.isEqualVertically = reading.flag(3) }
        },
    ]

    private static func resizing(
        _ text: String, _ reading: ImgproxyArguments
    ) throws(TranslationError) -> ImgproxyOptions.Resizing {
        guard let type = ImgproxyOptions.Resizing(rawValue: text) else {
            throw reading.error("the type is one of fit, fill, fill-down, force, auto")
        }
        return type
    }

    /// Width, height, enlarge, extend and its gravity; an empty one keeps what was set.
    private static func readSize(
        _ options: inout ImgproxyOptions, _ reading: ImgproxyArguments
    ) throws(TranslationError) {
        if reading[0] != nil { options.pipeline.width = try reading.side(0) }
        if reading[1] != nil { options.pipeline.height = try reading.side(1) }
        if reading[2] != nil { options.pipeline.mayEnlarge = reading.flag(2) }
        if reading[3] != nil { try readExtend(&options.pipeline.extend, reading.dropping(3)) }
    }

    /// A switch and a gravity.
    private static func readExtend(
        _ extend: inout ImgproxyOptions.Extend, _ reading: ImgproxyArguments
    ) throws(TranslationError) {
        extend.isOn = reading.flag(0)
        let place = reading.dropping(1)
        guard !place.values.isEmpty else { return }
        extend.gravity = try place.gravity(replacing: extend.gravity, isPlace: true)
    }

    // MARK: - Canvas

    private static let canvas = [
        ImgproxyOption("extend", "ex", counts: 1...4) { (options, reading) throws(TranslationError) in
            try readExtend(&options.pipeline.extend, reading)
        },
        ImgproxyOption("extend_aspect_ratio", "extend_ar", "exar", counts: 1...4) {
            (options, reading) throws(TranslationError) in
            try readExtend(&options.pipeline.extendRatio, reading)
        },
        ImgproxyOption("padding", "pd", counts: 1...4) { (options, reading) throws(TranslationError) in
            var padding = options.pipeline.padding
            if reading[0] != nil { padding.top = try reading.side(0) }
            padding.right = reading[1] == nil ? padding.top : try reading.side(1)
            padding.bottom = reading[2] == nil ? padding.top : try reading.side(2)
            padding.left = reading[3] == nil ? padding.right : try reading.side(3)
            options.pipeline.padding = padding
        },
        ImgproxyOption("auto_rotate", "ar") { (options, reading) throws(TranslationError) in
            options.pipeline.isTurnedByMetadata = reading.flag(0)
        },
        ImgproxyOption("rotate", "rot") { (options, reading) throws(TranslationError) in
            let angle = try reading.integer(0, in: 0...360_000)
            guard angle.isMultiple(of: 90) else { throw reading.error("it is a multiple of 90") }
            options.pipeline.rotation = angle % 360
        },
        ImgproxyOption("flip", "fl", counts: 1...2) { (options, reading) throws(TranslationError) in
            if reading[0] != nil { options.pipeline.flipsHorizontally = reading.flag(0) }
            if reading[1] != nil { options.pipeline.flipsVertically = reading.flag(1) }
        },
    ]

    // MARK: - Colours

    private static let colours = [
        ImgproxyOption("background", "bg", counts: 1...3) { (options, reading) throws(TranslationError) in
            switch reading.values.count {
            case 1: options.pipeline.background = reading[0] == nil ? nil : try reading.color(0)
            case 3:
                var color = ""
                for place in 0..<3 {
                    let level = try reading.integer(place, in: 0...255)
                    color += UInt8(clamping: level).hexadecimal
                }
                options.pipeline.background = color
            default: throw reading.error("it has one argument, or three")
            }
        },
        ImgproxyOption("blur", "bl") { (options, reading) throws(TranslationError) in
            options.pipeline.blur = try reading.number(0, in: 0...ImgproxyArguments.maxNumber)
        },
        ImgproxyOption("sharpen", "sh") { (options, reading) throws(TranslationError) in
            options.pipeline.sharpen = try reading.number(0, in: 0...ImgproxyArguments.maxNumber)
        },
        ImgproxyOption("pixelate", "pix") { (options, reading) throws(TranslationError) in
            options.pipeline.pixelate = try reading.side(0)
        },
        // The last two are of the commercial version.
        ImgproxyOption("watermark", "wm", counts: 1...7) { (options, reading) throws(TranslationError) in
            var watermark = options.pipeline.watermark
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
            options.pipeline.watermark = watermark
        },
    ]
}
