// SPDX-License-Identifier: Apache-2.0

/// One option of imgproxy. Its raw value is its names, joined by spaces.
enum ImgproxyOption: String, CaseIterable {
    // Sizes
    case resize = "resize rs"
    case size = "size s"
    case resizingType = "resizing_type rt"
    case width = "width w"
    case height = "height h"
    case minWidth = "min-width mw"
    case minHeight = "min-height mh"
    case zoom = "zoom z"
    case dpr
    case enlarge = "enlarge el"
    case gravity = "gravity g"
    case crop = "crop c"
    case trim = "trim t"

    // Canvas
    case extend = "extend ex"
    case extendRatio = "extend_aspect_ratio extend_ar exar"
    case padding = "padding pd"
    case autoRotate = "auto_rotate ar"
    case rotate = "rotate rot"
    case flip = "flip fl"

    // Colours
    case background = "background bg"
    case blur = "blur bl"
    case sharpen = "sharpen sh"
    case pixelate = "pixelate pix"
    case watermark = "watermark wm"

    // Output
    case format = "format f ext"
    case quality = "quality q"
    case formatQuality = "format_quality fq"
    case maxBytes = "max_bytes mb"
    case stripMetadata = "strip_metadata sm"
    case keepCopyright = "keep_copyright kcr"
    case stripProfile = "strip_color_profile scp"
    case preserveHDR = "preserve_hdr ph"
    case enforceThumbnail = "enforce_thumbnail eth"
    case skipProcessing = "skip_processing skp"
    case raw

    // Delivery
    /// Stands for others.
    case preset = "preset pr"
    case cachebuster = "cachebuster cb"
    case expires = "expires exp"
    case filename = "filename fn"
    case returnAttachment = "return_attachment att"

    // Limits
    case maxSourceResolution = "max_src_resolution msr"
    case maxSourceFileSize = "max_src_file_size msfs"
    case maxFrames = "max_animation_frames maf"
    case maxFrameResolution = "max_animation_frame_resolution mafr"
    case maxResultDimension = "max_result_dimension mrd"

    // Of the commercial version
    case backgroundAlpha = "background_alpha bga"
    case contrast = "contrast co"
    case saturation = "saturation sa"
    case duotone = "duotone dt"
    case disableAnimation = "disable_animation da"
    case page = "page pg"

    /// How many arguments it has.
    var counts: ClosedRange<Int> {
        switch self {
        case .resize: 0...8
        case .size: 0...7
        case .zoom, .flip, .filename: 1...2
        case .gravity, .background, .duotone: 1...3
        case .trim, .extend, .extendRatio, .padding: 1...4
        case .crop: 1...5
        case .watermark: 1...7
        case .preset, .skipProcessing: 1...64
        case .formatQuality: 2...64
        default: 1...1
        }
    }

    /// Whether only the commercial version has it.
    var isCommercial: Bool {
        switch self {
        case .backgroundAlpha, .contrast, .saturation, .duotone, .disableAnimation, .page: true
        default: false
        }
    }

    var isAboutLimits: Bool {
        switch self {
        case .maxSourceResolution, .maxSourceFileSize, .maxFrames, .maxFrameResolution, .maxResultDimension:
            true
        default: false
        }
    }

    /// Every option by each of its names.
    static let byName = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { option in
            option.rawValue.split(separator: " ").map { (String($0), option) }
        })

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
}
