// SPDX-License-Identifier: Apache-2.0

import Freshness
import Imaging
import Primitives
import URLs

/// The parameters of `/img` as given; nil if not given.
struct ImageParameters {
    var url: SourceURL?
    /// The buckets that `url` may name.
    let buckets: Buckets
    var delivery = Delivery()
    /// The same of a preset, which the operator wrote.
    var presetDelivery = Delivery()
    /// Whether a preset alone determines the transform.
    var isShapedByPreset = false
    /// The parameters that a preset gave and the request did not.
    var presetNames: Set<String> = []
    var transform: String?
    var format: String?
    var quality: Int?
    /// Qualities of single formats, in place of the configured ones.
    var qualities: [ImageFormat: Int] = [:]
    /// Formats of sources that are sent as they are unless another format is named.
    var skipped: [ImageFormat] = []
    var isLossless: Bool?
    var isProgressive: Bool?
    var metadata: RenderPlan.MetadataPolicy?
    var dpr: Double?
    /// Whether `dpr` is the client's screen's (`dpr=auto`).
    var hasAutomaticDPR = false
    var animation: RenderPlan.AnimationPolicy?
    var frame: Int?
    var frameCount: Int?
    var maxBytes: Int?

    /// Parses one value and stores it; throws if it is invalid.
    typealias Reader = @Sendable (inout ImageParameters, String) throws(ImageRequestError) -> Void

    /// Every parameter, declared once: its name and the parser of its value.
    static let readers: [String: Reader] = [
        "url": { (parameters, value) throws(ImageRequestError) in
            guard parameters.url == nil else {
                throw .invalidParameter(name: "url", position: 0, reason: "only without 'url64'")
            }
            parameters.url = try sourceURL(value, parameters.buckets)
        },
        "url64": { (parameters, value) throws(ImageRequestError) in
            guard let bytes = Base64.decodeURL(value.utf8),
                let text = String(validating: bytes, as: UTF8.self)
            else {
                throw .invalidParameter(
                    name: "url64", position: 0, reason: "must be base64url of UTF-8, without padding")
            }
            guard parameters.url == nil else {
                throw .invalidParameter(name: "url64", position: 0, reason: "only without 'url'")
            }
            parameters.url = try sourceURL(text, parameters.buckets)
        },
        // Its parameters are read before the request's own.
        "preset": { (_, _) throws(ImageRequestError) in },
        "transform": { (parameters, value) throws(ImageRequestError) in parameters.transform = value },
        "format": { (parameters, value) throws(ImageRequestError) in parameters.format = value },
        "quality": { (parameters, value) throws(ImageRequestError) in
            (parameters.quality, parameters.qualities) = try qualities(value)
        },
        "skip": { (parameters, value) throws(ImageRequestError) in
            parameters.skipped = try formats("skip", value[...], separator: ",")
        },
        "lossless": { (parameters, value) throws(ImageRequestError) in
            parameters.isLossless = try flag("lossless", value)
        },
        "progressive": { (parameters, value) throws(ImageRequestError) in
            parameters.isProgressive = try flag("progressive", value)
        },
        "metadata": { (parameters, value) throws(ImageRequestError) in
            parameters.metadata = try choice(
                "metadata", value, ["strip": RenderPlan.MetadataPolicy.strip, "keep": .keep, "none": .none])
        },
        "dpr": { (parameters, value) throws(ImageRequestError) in
            // In the place of a preset's, whichever of the two that was.
            parameters.hasAutomaticDPR = value == "auto"
            parameters.dpr = parameters.hasAutomaticDPR ? nil : try ratio("dpr", value, in: 0.5...8)
        },
        "animate": { (parameters, value) throws(ImageRequestError) in
            let policies = [
                "all": RenderPlan.AnimationPolicy.all, "first": .first, "0": .first, "strip": .strip,
            ]
            parameters.animation = try choice("animate", value, policies)
        },
        "frame": { (parameters, value) throws(ImageRequestError) in
            parameters.frame = try integer("frame", value, in: 0...99_999)
        },
        "frames": { (parameters, value) throws(ImageRequestError) in
            parameters.frameCount = try value == "all" ? .max : integer("frames", value, in: 1...99_999)
        },
        "max_bytes": { (parameters, value) throws(ImageRequestError) in
            parameters.maxBytes = try size("max_bytes", value, in: 1...999_999_999)
        },
        "options": { (parameters, value) throws(ImageRequestError) in
            parameters.delivery.options = try DeliveryReading.options(value)
        },
        "tag": { (parameters, value) throws(ImageRequestError) in
            parameters.delivery.tags = try DeliveryReading.tags(value)
        },
        "filename": { (parameters, value) throws(ImageRequestError) in
            parameters.delivery.filename = try DeliveryReading.filename(value)
        },
        "download": { (parameters, value) throws(ImageRequestError) in
            parameters.delivery.isDownload = try flag("download", value)
        },
        "priority": { (parameters, value) throws(ImageRequestError) in
            let choices = FetchPriority.allCases.map { ($0.rawValue, $0) }
            parameters.delivery.priority = try choice(
                "priority", value, Dictionary(uniqueKeysWithValues: choices))
        },
        "placeholder": { (parameters, value) throws(ImageRequestError) in
            parameters.delivery.placeholder = value
        },
        "expires": { (parameters, value) throws(ImageRequestError) in
            parameters.delivery.expires = Int64(try integer("expires", value, in: 0...99_999_999_999))
        },
    ]

    /// Whether any parameter requires other bytes than the source's.
    var requestsEncoding: Bool {
        transform != nil || (format != nil && format != "source") || quality != nil || isLossless != nil
            || !qualities.isEmpty || isProgressive != nil || metadata != nil || frame != nil
            || frameCount != nil
            || animation != nil || maxBytes != nil
    }

    /// Whether the request, and not its preset, wants a source beyond the limits shrunk.
    var isShrunkForClient: Bool {
        delivery.options.contains(.scaleDownLarge) && !presetDelivery.options.contains(.scaleDownLarge)
    }

    private static func sourceURL(
        _ value: String, _ buckets: Buckets
    ) throws(ImageRequestError) -> SourceURL {
        do throws(SourceURLError) {
            return try buckets.url(value)
        } catch {
            throw ImageRequestError(error, in: value)
        }
    }

    /// A quality for all formats, `webp:60` for one, or both, separated by commas.
    private static func qualities(
        _ value: String
    ) throws(ImageRequestError) -> (all: Int?, each: [ImageFormat: Int]) {
        var all: Int?
        var each: [ImageFormat: Int] = [:]
        for (position, piece) in TextPieces(of: value[...], at: UInt8(ascii: ",")) {
            let parts = piece.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 1, position == 0 {
                all = try integer("quality", String(piece), in: 1...100)
                continue
            }
            let format = try formats("quality", parts[0], separator: "+", from: position, among: withQuality)
            guard parts.count == 2, format.count == 1, each[format[0]] == nil else {
                throw .invalidParameter(
                    name: "quality", position: position,
                    reason: "a number, or one for each of some formats that have one, such as 75,webp:60")
            }
            each[format[0]] = try integer("quality", String(parts[1]), in: 1...100)
        }
        return (all, each)
    }

    private static let withQuality = ImageFormat.allCases.filter { $0.traits.sizeReduction == .quality }

    /// Names of formats, each once.
    /// - Parameter start: the offset of the names in the parameter's value.
    static func formats(
        _ name: String, _ value: Substring, separator: Character, from start: Int = 0,
        among allowed: [ImageFormat] = ImageFormat.allCases
    ) throws(ImageRequestError) -> [ImageFormat] {
        var formats: [ImageFormat] = []
        for (position, text) in TextPieces(of: value, at: separator.asciiValue ?? 0, from: start) {
            guard let format = ImageFormat(named: text),
                allowed.contains(format), !formats.contains(format)
            else {
                throw .invalidParameter(
                    name: name, position: position,
                    reason: "'\(text.excerpt)' is no format here, or there twice; formats are "
                        + allowed.map(\.rawValue).joined(separator: ", "))
            }
            formats.append(format)
        }
        return formats
    }

    /// Digits only: no sign, no space, no exponent.
    private static func integer(
        _ name: String, _ value: String, in range: ClosedRange<Int>
    ) throws(ImageRequestError) -> Int {
        if let wrong = value.utf8.firstIndex(where: { !$0.isASCIIDigit }) {
            let position = value.utf8.distance(from: value.utf8.startIndex, to: wrong)
            throw .invalidParameter(name: name, position: position, reason: "only digits are allowed")
        }
        return try checked(name, Int(value), in: range)
    }

    private static func checked<Number>(
        _ name: String, _ number: Number?, in range: ClosedRange<Number>
    ) throws(ImageRequestError) -> Number {
        guard let number, range.contains(number) else {
            throw .invalidParameter(
                name: name, position: 0, reason: "must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Digits, and behind them the unit of a size: `20KiB`, `20kB`.
    private static func size(
        _ name: String, _ value: String, in range: ClosedRange<Int>
    ) throws(ImageRequestError) -> Int {
        guard let size = ByteCount(value), range.contains(size.bytes) else {
            throw .invalidParameter(
                name: name, position: 0,
                reason:
                    "must be from \(range.lowerBound) to \(range.upperBound) bytes, such as 20000, 20kB or 20KiB"
            )
        }
        return size.bytes
    }

    /// Digits with at most three decimals.
    private static func ratio(
        _ name: String, _ value: String, in range: ClosedRange<Double>
    ) throws(ImageRequestError) -> Double {
        let parts = value.utf8.split(
            separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        let isPlain =
            parts.count <= 2
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) }
            && (parts.count == 1 || parts[1].count <= 3)
        guard isPlain, let number = Double(value) else {
            throw .invalidParameter(
                name: name, position: 0, reason: "must be digits with at most three decimals")
        }
        return try checked(name, number, in: range)
    }

    private static func flag(_ name: String, _ value: String) throws(ImageRequestError) -> Bool {
        try choice(name, value, ["1": true, "0": false, "true": true, "false": false])
    }

    private static func choice<Value>(
        _ name: String, _ value: String, _ choices: [String: Value]
    ) throws(ImageRequestError) -> Value {
        guard let chosen = choices[value] else {
            let allowed = choices.keys.sorted().joined(separator: ", ")
            throw .invalidParameter(name: name, position: 0, reason: "must be one of \(allowed)")
        }
        return chosen
    }
}
