// SPDX-License-Identifier: Apache-2.0

import Freshness
package import Imaging
package import Origins
package import Primitives
package import URLs

/// One requested image: its source, its transform, and the keys that identify both in every tier.
package struct ImageRequest: Sendable {
    /// The source, the plan and their keys, passed between modules as one reference.
    private final class Subject: Sendable {
        let source: SourceURL
        let rule: OriginRule?
        let plan: RenderPlan?
        let sourceKey: CacheKey
        let sourceKeyText: String
        let fullKey: CacheKey
        let resultKey: CacheKey
        let resultKeyText: String

        init(_ source: SourceURL, _ plan: RenderPlan?, _ rule: OriginRule?) {
            self.source = source
            self.plan = plan
            self.rule = rule
            sourceKeyText = ImageRequest.sourceKeyText(source, rule)
            sourceKey = CacheKey(canonicalText: sourceKeyText)
            fullKey =
                rule?.dropsParameters == true
                ? CacheKey(canonicalText: ImageRequest.sourceKeyText(source, nil)) : sourceKey
            let sourceText = sourceKeyText
            resultKeyText =
                plan.map { ImageRequest.keyText(of: $0, source: sourceText) } ?? "untouched " + sourceText
            resultKey = CacheKey(canonicalText: resultKeyText)
        }
    }

    private let subject: Subject
    /// The URL of the original.
    package var source: SourceURL { subject.source }
    /// The origin rule for the source.
    package var rule: OriginRule? { subject.rule }
    /// Identifies the source: the normalized URL, as the rule filters it.
    package var sourceKey: CacheKey { subject.sourceKey }
    /// Identifies what the origin is asked for: the normalized URL with the parameters that the rule drops from
    /// `sourceKey`, which a client may choose freely.
    package var fullKey: CacheKey { subject.fullKey }
    /// The text whose hash is `sourceKey`.
    package var sourceKeyText: String { subject.sourceKeyText }
    /// The transform of the original; nil if the original is sent unchanged.
    package var plan: RenderPlan? { subject.plan }
    /// Identifies the result: source, canonical pipeline, effective encode values, accept class, engine
    /// version.
    package var resultKey: CacheKey { subject.resultKey }
    /// The text whose hash is `resultKey`.
    package var resultKeyText: String { subject.resultKeyText }
    /// Whether client hints apply, given or not, so that the answer varies on them.
    package var isHinted = false
    /// How the image is looked up, stored and answered.
    package var delivery = Delivery()
    /// The maximum work of the transform, in weighted megapixels; nil means any. Not part of any key.
    package var workLimit: Int?
    /// Whether the client may raise the request's priority.
    package var mayGoFirst = false

    /// Incremented by hand when the same plan gives other pixels or bytes than before, so that old results
    /// are not found.
    package static let engineVersion = 9

    /// Whether `Accept` influenced the format, so that the answer has `Vary: Accept`.
    package var isNegotiated: Bool {
        guard case .automatic = plan?.format else { return false }
        return true
    }

    /// Whether the answer is a description of the picture as JSON.
    package var isInformation: Bool { plan?.format == .information }

    /// Creates a request and derives its keys.
    package init(source: SourceURL, plan: RenderPlan?, rule: OriginRule? = nil) {
        subject = Subject(source, plan, rule)
    }

    /// Returns a request for another transform of the same source, or for none.
    package func made(by plan: RenderPlan?) -> ImageRequest {
        var plan = plan
        if delivery.options.contains(.scaleDownLarge) { plan?.scalesDownLarge = true }
        var request = ImageRequest(source: source, plan: plan, rule: rule)
        request.delivery = delivery
        request.workLimit = workLimit
        request.mayGoFirst = mayGoFirst
        return request
    }

    /// Whether an image without a transform may be sent as it came.
    package var mayPassThrough: Bool { rule?.reencodes != true }

    /// Whether a source of this format is sent as it came, in place of the plan's result.
    package func skips(_ format: ImageFormat) -> Bool {
        mayPassThrough && plan?.skipped.contains(format) == true
    }

    /// Whether the answer's bytes are exactly the origin's.
    package var isUntouched: Bool {
        plan == nil && mayPassThrough && rule?.storeAs == nil && rule?.decodesBase64 != true
    }

    /// Whether a source beyond the limits is shrunk instead of refused.
    package var shrinksLarge: Bool { plan?.scalesDownLarge == true }

    /// The text that identifies a source for every transform: its URL, as its rule filters it.
    package static func sourceKeyText(_ source: SourceURL, _ rule: OriginRule?) -> String {
        "source " + (rule?.keyText(of: source) ?? source.normalized)
    }

    /// What a key's text begins with, before the source's URL.
    private static let starts = ["result \(engineVersion)\nsource ", "untouched source ", "source "]

    /// The source's URL in the text of a key, as the source's rule filters it; nil where it is no such text.
    package static func source(inKeyText text: String) -> Substring? {
        guard let start = starts.first(where: text.hasPrefix) else { return nil }
        return Substring(text.utf8.dropFirst(start.utf8.count).prefix { $0 != UInt8(ascii: "\n") })
    }

    /// One line for each value that affects the bytes; of the limits, only where a large source is shrunk to them.
    private static func keyText(of plan: RenderPlan, source: String) -> String {
        let format =
            switch plan.format {
            case .automatic(let formats): "auto \(names(formats)) avif<\(plan.avifMaxPixels)"
            case .explicit(let format): format.rawValue
            case .source: plan.keepsAlpha ? "source-alpha" : "source"
            case .information: "information"
            }
        let limits = plan.limits
        let large =
            plan.scalesDownLarge
            ? "large shrunk to \(min(limits.sourcePixels, limits.outputPixels)) pixels, side \(limits.side)"
            : ""
        let watermarks = plan.watermarks.map { " \($0.name)=\($0.digest)" }.sorted().joined()
        return """
            result \(engineVersion)
            \(source)
            transform \(plan.pipeline.transformerKey)\(watermarks.isEmpty ? "" : "\nwatermarks\(watermarks)")
            format \(format)
            quality \(plan.quality.map(String.init) ?? defaultQualities(of: plan))
            lossless \(plan.isLossless) progressive \(plan.isProgressive.map { "\($0)" } ?? "default")
            metadata \(plan.metadata.rawValue)
            frames \(frames(of: plan))
            bytes \(plan.maxBytes.map(String.init) ?? "any")\(large.isEmpty ? "" : "\n\(large)")\(plan.isLinear ? "\nlinear light" : "")\(plan.skipped.isEmpty ? "" : "\nskipped \(names(plan.skipped))")
            """
    }

    private static func frames(of plan: RenderPlan) -> String {
        guard let count = plan.frameCount else {
            return plan.frame.map { "only \($0)" } ?? plan.animation.rawValue
        }
        let number = count == .max ? "all" : "\(count)"
        return "\(number) from \(plan.frame ?? 0)\(plan.animation == .strip ? " strip" : "")"
    }

    private static func names(_ formats: [ImageFormat]) -> String {
        formats.map(\.rawValue).joined(separator: ",")
    }

    /// The default quality of an explicit format; those of all formats if the format is chosen later.
    private static func defaultQualities(of plan: RenderPlan) -> String {
        if case .explicit(let format) = plan.format {
            return plan.qualities[format].map(String.init) ?? "none"
        }
        return plan.qualities.map { "\($0.key.rawValue)=\($0.value)" }.sorted().joined(separator: ",")
    }
}
