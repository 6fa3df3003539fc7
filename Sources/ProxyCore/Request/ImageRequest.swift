// SPDX-License-Identifier: Apache-2.0

/// One wanted image: which source, what is made of it, and the keys that name both in every tier.
public struct ImageRequest: Sendable {
    /// What the keys name, and what names them: handed from room to room as one reference.
    private final class Subject: Sendable {
        let source: SourceURL
        let rule: OriginRule?
        let plan: RenderPlan?
        let sourceKey: CacheKey
        let sourceKeyText: String
        let resultKey: CacheKey
        let resultKeyText: String

        init(_ source: SourceURL, _ plan: RenderPlan?, _ rule: OriginRule?) {
            self.source = source
            self.plan = plan
            self.rule = rule
            sourceKeyText = ImageRequest.sourceKeyText(source, rule)
            sourceKey = CacheKey(canonicalText: sourceKeyText)
            let sourceText = sourceKeyText
            resultKeyText =
                plan.map { ImageRequest.keyText(of: $0, source: sourceText) } ?? "untouched " + sourceText
            resultKey = CacheKey(canonicalText: resultKeyText)
        }
    }

    private let subject: Subject
    /// Where the original comes from.
    public var source: SourceURL { subject.source }
    /// The origin rule for the source.
    public var rule: OriginRule? { subject.rule }
    /// Names the source: the normalised URL, as the rule filters it.
    public var sourceKey: CacheKey { subject.sourceKey }
    /// The text behind `sourceKey`.
    public var sourceKeyText: String { subject.sourceKeyText }
    /// What is made of the original; nil when its own bytes go out untouched.
    public var plan: RenderPlan? { subject.plan }
    /// Names the result: source, canonical pipeline, effective encode values, accept class, engine epoch.
    public var resultKey: CacheKey { subject.resultKey }
    /// The text behind `resultKey`.
    public var resultKeyText: String { subject.resultKeyText }
    /// Whether the client's word on its screen counts here, given or not, so that the answer varies on it.
    public var isHinted = false
    /// How it is looked for, kept and answered.
    public var delivery = Delivery()
    /// The most work that its making may be, in weighted megapixels; nil means any. No part of any key.
    public var workLimit: Int?
    /// Whether it may go before others: the client is trusted with that.
    public var mayGoFirst = false

    /// Raised by hand whenever the same plan gives other pixels or bytes than before, so that old results are not found.
    static let engineEpoch = 6

    /// Whether `Accept` took part in the choice of format, so that the answer carries `Vary: Accept`.
    public var isNegotiated: Bool {
        guard case .automatic = plan?.format else { return false }
        return true
    }

    /// Whether the answer is no picture but what is known of one, as JSON.
    public var isInformation: Bool { plan?.format == .information }

    /// Derives the keys.
    public init(source: SourceURL, plan: RenderPlan?, rule: OriginRule? = nil) {
        subject = Subject(source, plan, rule)
    }

    /// The same source, made into something else.
    func made(by plan: RenderPlan) -> ImageRequest {
        var request = ImageRequest(source: source, plan: plan, rule: rule)
        request.delivery = delivery
        request.workLimit = workLimit
        request.mayGoFirst = mayGoFirst
        return request
    }

    /// Whether an image without a transform may go out as it came.
    var mayPassThrough: Bool { rule?.reencodes != true }

    /// Whether what goes out is byte for byte what the origin sends.
    var isUntouched: Bool {
        plan == nil && mayPassThrough && rule?.storeAs == nil && rule?.decodesBase64 != true
    }

    /// Whether a source beyond the limits is shrunk, so that its size alone is no reason to refuse it.
    public var shrinksLarge: Bool { plan?.scalesDownLarge == true }

    /// The text that names a source, whatever is made of it: its URL, as its rule filters that.
    public static func sourceKeyText(_ source: SourceURL, _ rule: OriginRule?) -> String {
        "source " + (rule?.keyText(of: source) ?? source.normalized)
    }

    /// One line a value that decides the bytes; limits only decide whether there are any.
    private static func keyText(of plan: RenderPlan, source: String) -> String {
        let format =
            switch plan.format {
            case .automatic(let formats): "auto \(names(formats)) avif<\(plan.avifMaxPixels)"
            case .explicit(let format): format.rawValue
            case .source: "source"
            case .information: "information"
            }
        let watermarks = plan.watermarks.map { " \($0.name)=\($0.digest)" }.sorted().joined()
        return """
            result \(engineEpoch)
            \(source)
            transform \(plan.pipeline.transformerKey)\(watermarks.isEmpty ? "" : "\nwatermarks\(watermarks)")
            format \(format)
            quality \(plan.quality.map(String.init) ?? defaultQualities(of: plan))
            lossless \(plan.isLossless) progressive \(plan.isProgressive.map { "\($0)" } ?? "default")
            metadata \(plan.metadata.rawValue)
            frames \(plan.frame.map { "only \($0)" } ?? plan.animation.rawValue)
            bytes \(plan.maxBytes.map(String.init) ?? "any")\(plan.scalesDownLarge ? "\nlarge shrunk" : "")\(plan.isLinear ? "\nlinear light" : "")
            """
    }

    private static func names(_ formats: [ImageFormat]) -> String {
        formats.map(\.rawValue).joined(separator: ",")
    }

    /// The default that counts for an explicit format, all of them where the format is chosen later.
    private static func defaultQualities(of plan: RenderPlan) -> String {
        if case .explicit(let format) = plan.format {
            return plan.qualities[format].map(String.init) ?? "none"
        }
        return plan.qualities.map { "\($0.key.rawValue)=\($0.value)" }.sorted().joined(separator: ",")
    }
}
