// SPDX-License-Identifier: Apache-2.0

/// Turns the query of `/img` into an `ImageRequest`: every parameter is validated, nothing is ignored.
public struct ImageRequestParser: Sendable {
    private let limits: RenderLimits
    private let formats: FormatsConfiguration
    private let qualities: [ImageFormat: Int]
    private let sources: SourcePolicy

    /// Prepares a parser for one configuration.
    public init(
        limits: RenderLimits, formats: FormatsConfiguration, quality: QualityConfiguration,
        sources: SourcePolicy
    ) {
        self.limits = limits
        self.formats = formats
        qualities = quality.byFormat
        self.sources = sources
    }

    /// Reads a query, as raw bytes behind the `?`.
    ///
    /// - Parameter accept: called once, only when the format is chosen by `Accept`.
    /// - Throws: what is wrong with which parameter, and where; `.sourceForbidden` for a source that is not allowed.
    public func parse(
        query: some Collection<UInt8>, accept: () -> AcceptClass
    ) throws(PipelineError) -> ImageRequest {
        let draft = try Self.draft(of: QueryString(parsing: query))
        guard let url = draft.url else { throw .missingParameter("url") }
        guard sources.allows(url) else { throw .sourceForbidden }
        return ImageRequest(source: url, plan: try plan(from: draft, accept: accept))
    }

    private static func draft(of query: QueryString) throws(PipelineError) -> ImageParameters {
        var draft = ImageParameters()
        for item in query.items {
            guard let read = ImageParameters.readers[item.name] else {
                let hint =
                    draft.url == nil ? nil : "if it belongs to the source URL, encode '&' in that as %26"
                throw .unknownParameter(name: item.name, hint: hint)
            }
            try read(&draft, item.value)
        }
        return draft
    }

    /// The plan for a re-encoded image; nil when nothing asks for one.
    private func plan(
        from draft: ImageParameters, accept: () -> AcceptClass
    ) throws(PipelineError) -> RenderPlan? {
        guard draft.dpr == nil || draft.transform != nil else {
            throw .invalidParameter(name: "dpr", position: 0, reason: "only together with 'transform'")
        }
        guard draft.asksForEncoding else { return nil }
        var plan = rasterPlan
        plan.pipeline = try pipeline(from: draft)
        plan.format = try formatChoice(draft.format, accept: accept)
        plan.quality = draft.quality ?? explicitDefault(plan.format)
        plan.isLossless = draft.isLossless ?? false
        guard !plan.isLossless || plan.format != .explicit(.jpeg) else {
            throw .invalidParameter(name: "lossless", position: 0, reason: "jpeg is never lossless")
        }
        plan.isProgressive = draft.isProgressive
        plan.frame = draft.frame
        plan.animation = draft.animation ?? .all
        plan.metadata = draft.metadata ?? .strip
        return plan
    }

    /// A plan that changes nothing but the format, where the source's own can't be written.
    public var rasterPlan: RenderPlan {
        var plan = RenderPlan(format: .source)
        plan.limits = limits
        plan.decodableFormats = formats.decode
        plan.qualities = qualities
        plan.avifMaxPixels = formats.avifMaxPixels
        return plan
    }

    private func pipeline(from draft: ImageParameters) throws(PipelineError) -> TransformPipeline {
        guard let text = draft.transform else { return TransformPipeline() }
        do throws(TransformError) {
            let pipeline = try TransformPipeline(parsing: text, operationLimit: limits.operations)
            return try draft.dpr.map { (dpr) throws(TransformError) in try pipeline.scaled(by: dpr) }
                ?? pipeline
        } catch {
            throw .invalidParameter(
                name: "transform", position: error.position ?? 0, reason: error.description)
        }
    }

    /// `quality=80` and no quality at all are one result where 80 is the format's default.
    private func explicitDefault(_ choice: RenderPlan.FormatChoice) -> Int? {
        guard case .explicit(let format) = choice else { return nil }
        return qualities[format]
    }

    private func formatChoice(
        _ name: String?, accept: () -> AcceptClass
    ) throws(PipelineError) -> RenderPlan.FormatChoice {
        switch name {
        case nil, "auto": return .automatic(accept().formats)
        case "source": return .source
        case let name?:
            guard let format = ImageFormat(rawValue: name), isWritable(format) else {
                let allowed = ["auto", "source"] + ImageFormat.allCases.filter(isWritable).map(\.rawValue)
                throw .invalidParameter(
                    name: "format", position: 0, reason: "must be one of \(allowed.joined(separator: ", "))")
            }
            return .explicit(format)
        }
    }

    /// TIFF and JPEG XL are written only once the configuration names them.
    private func isWritable(_ format: ImageFormat) -> Bool {
        format.row.isWritable && (formats.decode.contains(format) || ![.tiff, .jxl].contains(format))
    }
}
