// SPDX-License-Identifier: Apache-2.0

import Freshness
package import Imaging
import Primitives

/// What the parameters say of the pixels.
extension ImageRequestParser {
    /// The plan for a re-encoded image; nil when nothing requests one.
    func plan(
        from given: ImageParameters, accept: () -> AcceptClass
    ) throws(ImageRequestError) -> RenderPlan? {
        var parameters = given
        guard parameters.dpr == nil && !parameters.hasAutomaticDPR || parameters.transform != nil else {
            throw .invalidParameter(name: "dpr", position: 0, reason: "only together with 'transform'")
        }
        guard parameters.requestsEncoding else { return nil }
        var plan = rasterPlan
        plan.pipeline = try pipeline(from: parameters)
        plan.format = try formatChoice(parameters.format, accept: accept)
        try refuseMeaningless(&parameters, plan.format)
        plan.qualities.merge(parameters.qualities) { $1 }
        plan.quality = parameters.quality
        if case .explicit(let format) = plan.format {
            plan.quality = parameters.qualities[format] ?? parameters.quality ?? qualities[format]
        } else if let all = parameters.quality, !parameters.qualities.isEmpty {
            for format in plan.qualities.keys where parameters.qualities[format] == nil {
                plan.qualities[format] = all
            }
            plan.quality = nil
        }
        plan.keepsAlpha = parameters.format == Self.sourceWithAlpha
        plan.skipped = parameters.skipped
        // What has another format than the named one is written in that.
        if case .explicit(let format) = plan.format { plan.skipped.removeAll { $0 != format } }
        plan.isLossless = parameters.isLossless ?? false
        guard !plan.isLossless || parameters.maxBytes == nil else {
            throw .invalidParameter(name: "max_bytes", position: 0, reason: "only without 'lossless'")
        }
        plan.maxBytes = parameters.maxBytes
        plan.watermarks = try watermarks(of: plan.pipeline)
        plan.isProgressive = parameters.isProgressive
        plan.frame = parameters.frame
        plan.frameCount = parameters.frameCount
        plan.animation = parameters.animation ?? .all
        plan.metadata = parameters.metadata ?? .strip
        plan.scalesDownLarge = parameters.delivery.options.contains(.scaleDownLarge)
        return plan
    }

    /// Refuses what the wanted encoding can't have, so that nothing is ignored silently.
    ///
    /// What a preset says gives way to what the request says itself.
    private func refuseMeaningless(
        _ parameters: inout ImageParameters, _ choice: RenderPlan.FormatChoice
    ) throws(ImageRequestError) {
        let presetNames = parameters.presetNames
        func refuse(_ name: String, beside other: String, _ reason: String) throws(ImageRequestError) {
            guard presetNames.contains(name), !presetNames.contains(other) else {
                throw .invalidParameter(name: name, position: 0, reason: reason)
            }
        }
        if case .explicit(let format) = choice {
            if parameters.isLossless == true, !format.traits.mayRequestLossless {
                try refuse("lossless", beside: "format", "\(format.rawValue) is never lossless")
                parameters.isLossless = nil
            }
            // That of another format says nothing of this one.
            if parameters.quality != nil, format.traits.sizeReduction != .quality {
                try refuse("quality", beside: "format", "\(format.rawValue) has no quality")
                parameters.quality = nil
            }
            if parameters.isProgressive == true, !format.traits.canBeProgressive {
                try refuse("progressive", beside: "format", "\(format.rawValue) is never progressive")
                parameters.isProgressive = nil
            }
        }
        if parameters.isLossless == true, parameters.quality != nil {
            try refuse("quality", beside: "lossless", "only without 'lossless'")
            parameters.quality = nil
        }
        // Beside `frame` alone it says the same: one frame.
        guard parameters.animation == .first, parameters.frameCount != nil else { return }
        if presetNames.contains("frames"), !presetNames.contains("animate") {
            parameters.frameCount = nil
        } else {
            try refuse("animate", beside: "frames", "'first' only without 'frames'")
            parameters.animation = nil
        }
    }

    /// A plan that changes nothing but the format, where the source's own can't be written.
    package var rasterPlan: RenderPlan {
        var plan = RenderPlan(format: .source)
        plan.limits = limits
        plan.decodableFormats = formats.decode
        plan.qualities = qualities
        plan.avifMaxPixels = formats.avifMaxPixels
        plan.isLinear = isLinear
        return plan
    }

    func pipeline(from parameters: ImageParameters) throws(ImageRequestError) -> TransformPipeline {
        guard let text = parameters.transform else { return TransformPipeline() }
        do throws(TransformError) {
            let pipeline = try TransformPipeline(parsing: text, operationLimit: limits.operations)
            return try parameters.dpr.map { (dpr) throws(TransformError) in try pipeline.scaled(by: dpr) }
                ?? pipeline
        } catch {
            throw .invalidParameter(
                name: "transform", position: error.position ?? 0, reason: error.description)
        }
    }

    private func watermarks(of pipeline: TransformPipeline) throws(ImageRequestError) -> [WatermarkImage] {
        let names = pipeline.watermarkNames
        guard names.count <= WatermarkImage.maxPerPipeline else {
            throw .invalidParameter(
                name: "transform", position: 0,
                reason: "at most \(WatermarkImage.maxPerPipeline) different watermarks are allowed")
        }
        var images: [WatermarkImage] = []
        for name in names {
            guard let image = policy.watermarks[name] else {
                throw .invalidParameter(
                    name: "transform", position: pipeline.position(ofWatermark: name),
                    reason: "there is no watermark '\(name.excerpt)'")
            }
            images.append(image)
        }
        return images
    }

    /// The source's own format, unless that would lose transparency.
    private static let sourceWithAlpha = "source-alpha"
    private static let automatic = "auto:"

    func formatChoice(
        _ name: String?, accept: () -> AcceptClass
    ) throws(ImageRequestError) -> RenderPlan.FormatChoice {
        switch name {
        case nil, "auto": return .automatic(accept().formats)
        case "source", Self.sourceWithAlpha: return .source
        case let name? where name.hasPrefix(Self.automatic):
            let wanted = try ImageParameters.formats(
                "format", name.dropFirst(Self.automatic.count), separator: "+", from: Self.automatic.count,
                among: writable)
            let accepted = accept().formats
            return .automatic(wanted.filter(accepted.contains))
        case let name?:
            guard let format = ImageFormat(named: name), writable.contains(format)
            else {
                let allowed = ["auto", "source", Self.sourceWithAlpha] + writable.map(\.rawValue)
                let isOff = ImageFormat(named: name)?.traits.isWritable == true
                let hint = isOff ? "; \(name) only where formats.decode names it" : ""
                throw .invalidParameter(
                    name: "format", position: 0,
                    reason: "must be one of \(allowed.joined(separator: ", "))\(hint)")
            }
            return .explicit(format)
        }
    }

    private var writable: [ImageFormat] {
        ImageFormat.allCases.filter { $0.isWritable(decoding: formats.decode) }
    }
}
