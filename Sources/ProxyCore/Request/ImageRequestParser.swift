// SPDX-License-Identifier: Apache-2.0

/// Turns the query of `/img` into an `ImageRequest`: every parameter is validated, nothing is ignored. Safe from any thread.
public final class ImageRequestParser: Sendable {
    private let limits: RenderLimits
    private let formats: FormatsConfiguration
    private let qualities: [ImageFormat: Int]
    private let policy: RequestPolicy
    private let isLinear: Bool

    /// Prepares a parser for one configuration.
    ///
    /// - Parameter resizesInLinearLight: as `transform.linearLight` says.
    public init(
        limits: RenderLimits, formats: FormatsConfiguration, quality: QualityConfiguration,
        policy: RequestPolicy, resizesInLinearLight: Bool = false
    ) {
        isLinear = resizesInLinearLight
        self.limits = limits
        self.formats = formats
        qualities = quality.byFormat
        self.policy = policy
    }

    /// Reads a request target: path and query, raw bytes.
    ///
    /// The signature is checked before anything is read, the time before anything is looked at.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - dpr: the client's word on its screen, for `dpr=auto`; nil where none counts.
    ///   - accept: called once, only when the format is chosen by `Accept`.
    /// - Throws: what is wrong with which parameter, and where; what the policy does not allow.
    public func parse(
        target: [UInt8], at now: Int64, dpr: ScreenHint? = nil, accept: () -> AcceptClass
    ) throws(ImageRequestError) -> ImageRequest {
        let outcome = try policy.signatures.check(target)
        let query = outcome.signed.firstIndex(of: UInt8(ascii: "?")).map { outcome.signed[($0 + 1)...] } ?? []
        return try parse(query: query, isSigned: outcome.isSigned, at: now, dpr: dpr, accept: accept)
    }

    /// Reads a query, raw bytes behind the `?`, whose signature has been checked.
    public func parse(
        query: some Collection<UInt8>, isSigned: Bool = false, at now: Int64 = 0, dpr: ScreenHint? = nil,
        accept: () -> AcceptClass
    ) throws(ImageRequestError) -> ImageRequest {
        var draft = try draft(of: QueryString(parsing: query, knowing: Self.parameterNames.contains))
        let isHinted = draft.hasAutomaticDPR
        if isHinted {
            guard let dpr else {
                throw .invalidParameter(
                    name: "dpr", position: 0, reason: "'auto' needs the setting http.clientHints")
            }
            draft.dpr = dpr.ratio
            if dpr.ratio != nil { draft.isShapedByPreset = false }
        }
        var request = try request(for: draft, isSigned: isSigned, at: now) {
            (draft) throws(ImageRequestError) in
            try plan(from: draft, accept: accept)
        }
        request.isHinted = isHinted
        return request
    }

    /// What all requests have in common: the time, the source, the options and the origin's rule.
    private func request(
        for draft: ImageParameters, isSigned: Bool, at now: Int64,
        plan: (ImageParameters) throws(ImageRequestError) -> RenderPlan?
    ) throws(ImageRequestError) -> ImageRequest {
        if let expires = draft.delivery.expires, expires <= now { throw .urlExpired }
        guard let url = draft.url else { throw .missingParameter("url") }
        let mayGoFirst = isSigned || policy.allowsHighPriority
        if !isSigned { try checkOptions(of: draft) }
        guard mayGoFirst || draft.delivery.priority != .high || draft.presetPriority == .high else {
            throw .optionForbidden("priority=high")
        }
        try checkPlaceholder(draft.delivery)
        guard policy.sources.allows(url) else { throw .sourceForbidden }
        let plan = try plan(draft)
        var request: ImageRequest
        do {
            request = ImageRequest(source: url, plan: plan, rule: try policy.origins.rule(for: url))
        } catch {
            throw .sourceForbidden
        }
        request.delivery = draft.delivery
        request.mayGoFirst = mayGoFirst
        request.workLimit = isSigned || isTheOperators(draft) ? nil : limits.unsignedWork
        // The operator's word, which needs nobody's signature.
        if let rule = request.rule { request.delivery.options.formUnion(rule.options) }
        return request
    }

    /// Reads the target of `/info`, of which only the source and how it is looked for can be said.
    public func parseInformation(target: [UInt8], at now: Int64) throws(ImageRequestError) -> ImageRequest {
        let outcome = try policy.signatures.check(target)
        let query = outcome.signed.firstIndex(of: UInt8(ascii: "?")).map { outcome.signed[($0 + 1)...] } ?? []
        var draft = ImageParameters()
        for item in try QueryString(parsing: query, knowing: Self.informative.contains).items {
            guard Self.informative.contains(item.name), let read = ImageParameters.readers[item.name] else {
                throw .unknownParameter(
                    name: item.name.excerpt,
                    hint: "/info takes \(Self.informative.sorted().joined(separator: ", "))")
            }
            try read(&draft, item.value)
        }
        var plan = rasterPlan
        plan.format = .information
        return try request(for: draft, isSigned: outcome.isSigned, at: now) { _ in plan }
    }

    private static let informative: Set<String> = [
        "url", "url64", "expires", "tag", "options", "priority",
    ]

    /// What a client says of its screen, where it is asked.
    public struct ScreenHint: Sendable {
        /// The device pixel ratio; nil where the client does not say.
        public var ratio: Double?

        /// Wraps what was said.
        public init(ratio: Double?) {
            self.ratio = ratio
        }
    }

    /// Reads a source on its own; nil when neither parameter is given.
    public static func source(url: String?, url64: String?) throws(ImageRequestError) -> SourceURL? {
        var draft = ImageParameters()
        for (name, value) in [("url", url), ("url64", url64)] {
            if let value { try ImageParameters.readers[name]?(&draft, value) }
        }
        return draft.url
    }

    /// The names of all parameters, `sig` included.
    public static let parameterNames: Set<String> = Set(ImageParameters.readers.keys).union(["sig"])

    /// Joins what may be said of an unknown parameter.
    private static func hint(_ parts: String?...) -> String? {
        let said = parts.compactMap { $0 }
        return said.isEmpty ? nil : said.joined(separator: said[0].hasSuffix("?") ? " " : "; ")
    }

    /// Returns all that is wrong with a preset: first with each parameter, then with all of them together.
    /// - Parameter followsHints: whether clients' screens count.
    public func problems(of preset: Preset, followsHints: Bool = true) -> [ImageRequestError] {
        var draft = ImageParameters()
        var problems: [ImageRequestError] = []
        for (name, value) in preset.parameters.sorted(by: { $0.key < $1.key }) {
            do throws(ImageRequestError) {
                guard !Preset.foreign.contains(name) else {
                    throw .unknownParameter(name: name, hint: "it belongs to a request, not to a preset")
                }
                try apply(name, value, to: &draft)
                if name == "transform" { _ = try pipeline(from: draft) }
                if name == "format" { _ = try formatChoice(value) { AcceptClass() } }
                if name == "placeholder" { try checkPlaceholder(draft.delivery) }
            } catch {
                problems.append(error)
            }
        }
        guard problems.isEmpty else { return problems }
        do throws(ImageRequestError) {
            try checkTogether(draft, followsHints)
            return []
        } catch {
            return [error]
        }
    }

    private func checkTogether(_ draft: ImageParameters, _ followsHints: Bool) throws(ImageRequestError) {
        guard followsHints || !draft.hasAutomaticDPR else {
            throw .invalidParameter(
                name: "dpr", position: 0, reason: "'auto' needs the setting http.clientHints")
        }
        _ = try plan(from: draft) { AcceptClass() }
    }

    private func draft(of query: QueryString) throws(ImageRequestError) -> ImageParameters {
        var draft = ImageParameters()
        if let name = query.items.first(where: { $0.name == "preset" })?.value {
            guard let preset = policy.presets[name] else {
                throw .invalidParameter(
                    name: "preset", position: 0, reason: "there is no preset '\(name.excerpt)'")
            }
            try apply(preset, to: &draft)
            draft.presetOptions = draft.delivery.options
            draft.presetPriority = draft.delivery.priority
            draft.isShapedByPreset = query.items.allSatisfy { Self.shapeless.contains($0.name) }
            draft.presetTags = draft.delivery.tags
            draft.presetNames = Set(preset.parameters.keys)
        } else if policy.onlyPresets {
            throw .missingParameter("preset")
        }
        for item in query.items {
            guard item.name != "sig" else {
                throw .invalidParameter(
                    name: "sig", position: 0, reason: "must be the last parameter, written as '&sig='")
            }
            guard let read = ImageParameters.readers[item.name] else {
                let escape =
                    draft.url == nil ? nil : "if it belongs to the source URL, encode '&' in that as %26"
                throw .unknownParameter(
                    name: item.name.excerpt, hint: Self.hint(ForeignParameter.hint(for: item.name), escape))
            }
            guard !policy.onlyPresets || Self.shapeless.contains(item.name) else {
                throw .presetRequired(item.name)
            }
            try read(&draft, item.value)
            draft.presetNames.remove(item.name)
        }
        return draft
    }

    /// Parameters that go with a preset where nothing else may shape the image.
    private static let shapeless: Set<String> = [
        "url", "url64", "preset", "expires", "filename", "download", "tag", "placeholder", "options",
        "priority",
    ]

    private func apply(_ preset: Preset, to draft: inout ImageParameters) throws(ImageRequestError) {
        for (name, value) in preset.parameters.sorted(by: { $0.key < $1.key }) {
            try apply(name, value, to: &draft)
        }
    }

    private func apply(
        _ name: String, _ value: String, to draft: inout ImageParameters
    ) throws(ImageRequestError) {
        guard let read = ImageParameters.readers[name] else {
            throw .unknownParameter(name: name, hint: ForeignParameter.hint(for: name))
        }
        try read(&draft, value)
    }

    /// Whether what is made of the source is a preset's word, and nothing of it the client's.
    private func isTheOperators(_ draft: ImageParameters) -> Bool {
        let isShrunkForClient =
            draft.delivery.options.contains(.scaleDownLarge) && !draft.presetOptions.contains(.scaleDownLarge)
        return draft.isShapedByPreset && !isShrunkForClient
    }

    private func checkOptions(of draft: ImageParameters) throws(ImageRequestError) {
        let allowed = policy.allowedOptions.union(draft.presetOptions)
        let refused = draft.delivery.options.intersection(.privileged).subtracting(allowed)
        if let name = refused.memberNames.first { throw .optionForbidden(name) }
        // Tags are stored for as long as what they hang on, and an operator purges by them: they are not for everybody to fill.
        guard policy.allowsUnsignedTags || draft.delivery.tags == draft.presetTags else {
            throw .optionForbidden("tag")
        }
    }

    private func checkPlaceholder(_ delivery: Delivery) throws(ImageRequestError) {
        guard let name = delivery.placeholder, !policy.placeholders.contains(name) else { return }
        throw .invalidParameter(
            name: "placeholder", position: 0, reason: "there is no placeholder '\(name.excerpt)'")
    }

    /// The plan for a re-encoded image; nil when nothing asks for one.
    private func plan(
        from given: ImageParameters, accept: () -> AcceptClass
    ) throws(ImageRequestError) -> RenderPlan? {
        var draft = given
        guard draft.dpr == nil && !draft.hasAutomaticDPR || draft.transform != nil else {
            throw .invalidParameter(name: "dpr", position: 0, reason: "only together with 'transform'")
        }
        guard draft.asksForEncoding else { return nil }
        var plan = rasterPlan
        plan.pipeline = try pipeline(from: draft)
        plan.format = try formatChoice(draft.format, accept: accept)
        try refuseMeaningless(&draft, plan.format)
        plan.quality = draft.quality ?? explicitDefault(plan.format)
        plan.isLossless = draft.isLossless ?? false
        guard !plan.isLossless || draft.maxBytes == nil else {
            throw .invalidParameter(name: "max_bytes", position: 0, reason: "only without 'lossless'")
        }
        plan.maxBytes = draft.maxBytes
        plan.watermarks = try watermarks(of: plan.pipeline)
        plan.isProgressive = draft.isProgressive
        plan.frame = draft.frame
        plan.animation = draft.animation ?? .all
        plan.metadata = draft.metadata ?? .strip
        plan.scalesDownLarge = draft.delivery.options.contains(.scaleDownLarge)
        return plan
    }

    /// Refuses what the wanted encoding can't have, so that nothing is ignored silently.
    ///
    /// What a preset says gives way to what the request says itself.
    private func refuseMeaningless(
        _ draft: inout ImageParameters, _ choice: RenderPlan.FormatChoice
    ) throws(ImageRequestError) {
        let presetNames = draft.presetNames
        func refuse(_ name: String, beside other: String, _ reason: String) throws(ImageRequestError) {
            guard presetNames.contains(name), !presetNames.contains(other) else {
                throw .invalidParameter(name: name, position: 0, reason: reason)
            }
        }
        if case .explicit(let format) = choice {
            if draft.isLossless == true, !format.canBeAskedForLossless {
                try refuse("lossless", beside: "format", "\(format.rawValue) is never lossless")
                draft.isLossless = nil
            }
            if draft.quality != nil, !format.hasQuality {
                try refuse("quality", beside: "format", "\(format.rawValue) has no quality")
                draft.quality = nil
            }
            if draft.isProgressive == true, !format.canBeProgressive {
                try refuse("progressive", beside: "format", "\(format.rawValue) is never progressive")
                draft.isProgressive = nil
            }
        }
        if draft.isLossless == true, draft.quality != nil {
            try refuse("quality", beside: "lossless", "only without 'lossless'")
            draft.quality = nil
        }
    }

    /// A plan that changes nothing but the format, where the source's own can't be written.
    public var rasterPlan: RenderPlan {
        var plan = RenderPlan(format: .source)
        plan.limits = limits
        plan.decodableFormats = formats.decode
        plan.qualities = qualities
        plan.avifMaxPixels = formats.avifMaxPixels
        plan.isLinear = isLinear
        return plan
    }

    private func pipeline(from draft: ImageParameters) throws(ImageRequestError) -> TransformPipeline {
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
                    name: "transform", position: 0, reason: "there is no watermark '\(name.excerpt)'")
            }
            images.append(image)
        }
        return images
    }

    /// `quality=80` and no quality at all are one result where 80 is the format's default.
    private func explicitDefault(_ choice: RenderPlan.FormatChoice) -> Int? {
        guard case .explicit(let format) = choice else { return nil }
        return qualities[format]
    }

    private func formatChoice(
        _ name: String?, accept: () -> AcceptClass
    ) throws(ImageRequestError) -> RenderPlan.FormatChoice {
        switch name {
        case nil, "auto": return .automatic(accept().formats)
        case "source": return .source
        case let name?:
            guard let format = ImageFormat(rawValue: name == "jpg" ? "jpeg" : name), isWritable(format) else {
                let allowed = ["auto", "source"] + ImageFormat.allCases.filter(isWritable).map(\.rawValue)
                throw .invalidParameter(
                    name: "format", position: 0, reason: "must be one of \(allowed.joined(separator: ", "))")
            }
            return .explicit(format)
        }
    }

    /// JPEG XL is written only once the configuration names it: libvips does not trust its coders.
    private func isWritable(_ format: ImageFormat) -> Bool {
        format.row.isWritable && (formats.decode.contains(format) || format != .jxl)
    }
}
