// SPDX-License-Identifier: Apache-2.0

import Freshness
package import Imaging
import Origins
import Primitives
package import URLs

/// Turns the query of `/img` into an `ImageRequest`: every parameter is validated, nothing is ignored. Safe from any thread.
package final class ImageRequestParser: Sendable {
    let limits: RenderLimits
    let formats: FormatsConfiguration
    let qualities: [ImageFormat: Int]
    package let policy: RequestPolicy
    let isLinear: Bool
    /// The picture that the request brings, in place of the source that its parameters would name.
    let upload: SourceURL?

    /// Prepares a parser for one configuration.
    ///
    /// - Parameter resizesInLinearLight: as `transform.linearLight` says.
    package init(
        limits: RenderLimits, formats: FormatsConfiguration, quality: QualityConfiguration,
        policy: RequestPolicy, resizesInLinearLight: Bool = false
    ) {
        isLinear = resizesInLinearLight
        upload = nil
        self.limits = limits
        self.formats = formats
        qualities = quality.byFormat
        self.policy = policy
    }

    private init(_ other: ImageRequestParser, policy: RequestPolicy, upload: SourceURL) {
        (limits, formats, qualities, isLinear) =
            (other.limits, other.formats, other.qualities, other.isLinear)
        self.policy = policy
        self.upload = upload
    }

    /// The same for a request that brings the picture itself, so that its parameters name no source.
    /// - Parameter isOperator: whether it comes from an operator, who needs no signature.
    package func taking(_ upload: SourceURL, isOperator: Bool = false) -> ImageRequestParser {
        var policy = policy
        if isOperator { (policy.allowsUploads, policy.signatures) = (true, .none) }
        return ImageRequestParser(self, policy: policy, upload: upload)
    }

    /// Whether a request may bring the picture itself without a signature.
    package var allowsUploads: Bool { policy.allowsUploads }

    /// Whether some request may bring the picture itself.
    package var takesUploads: Bool { policy.allowsUploads || policy.signatures.hasKeys }

    /// Whether this target, of our own URLs, may come with a picture, as far as its signature says.
    package func mayUpload(to target: [UInt8]) -> Bool {
        // Ignored: what is wrong with the signature; the request is read again, and refused with that.
        guard let outcome = try? policy.signatures.check(target) else { return false }
        return outcome.isSigned || policy.allowsUploads
    }

    /// Reads a request target: path and query, or parameters in the path; raw bytes.
    ///
    /// The signature is checked before anything is read, the time before anything is looked at.
    ///
    /// - Parameters:
    ///   - target: as the request line has it.
    ///   - now: seconds since 1970.
    ///   - dpr: the client's word on its screen, for `dpr=auto`; nil where none counts.
    ///   - accept: called once, only when the format is chosen by `Accept`.
    /// - Throws: what is wrong with which parameter, and where; what the policy does not allow.
    package func parse(
        target: [UInt8], at now: Int64, dpr: ScreenHint? = nil, accept: () -> AcceptClass
    ) throws(ImageRequestError) -> ImageRequest {
        let (query, isSigned) = try checkedQuery(of: target)
        return try parse(query: query, isSigned: isSigned, at: now, dpr: dpr, accept: accept)
    }

    /// The query of a target without its signature, which has been checked.
    private func checkedQuery(
        of target: [UInt8]
    ) throws(ImageRequestError) -> (query: ArraySlice<UInt8>, isSigned: Bool) {
        let outcome = try policy.signatures.check(try PathForm.query(of: target))
        let query = outcome.signed.firstIndex(of: UInt8(ascii: "?")).map { outcome.signed[($0 + 1)...] }
        return (query ?? [], outcome.isSigned)
    }

    /// Reads a query, raw bytes behind the `?`, whose signature has been checked.
    package func parse(
        query: some Collection<UInt8>, isSigned: Bool = false, at now: Int64 = 0, dpr: ScreenHint? = nil,
        accept: () -> AcceptClass
    ) throws(ImageRequestError) -> ImageRequest {
        let query = try QueryString(parsing: query, knowing: Self.parameterNames.contains)
        return try parse(query: query, isSigned: isSigned, at: now, dpr: dpr, accept: accept)
    }

    /// Reads parameters that stand for another proxy's URL, whose signature has been checked.
    package func parse(
        translated query: QueryString, isSigned: Bool, at now: Int64, dpr: ScreenHint? = nil,
        accept: () -> AcceptClass
    ) throws(ImageRequestError) -> ImageRequest {
        guard isSigned || !policy.signatures.isRequired else { throw .dialectSignatureRequired }
        return try parse(query: query, isSigned: isSigned, at: now, dpr: dpr, accept: accept)
    }

    private func parse(
        query: QueryString, isSigned: Bool, at now: Int64, dpr: ScreenHint?, accept: () -> AcceptClass
    ) throws(ImageRequestError) -> ImageRequest {
        var parameters = try parameters(of: query)
        let isHinted = try applyScreenHint(dpr, to: &parameters)
        let url = try check(parameters, isSigned: isSigned, at: now)
        let plan: RenderPlan?
        do {
            plan = try self.plan(from: parameters, accept: accept)
        } catch {
            // A screen that takes a value beyond its bounds must not make a URL invalid: it gets the picture for a ratio of 1.
            guard isHinted, parameters.dpr != nil else { throw error }
            parameters.dpr = nil
            plan = try self.plan(from: parameters, accept: accept)
        }
        var request = try request(for: url, plan, parameters, isSigned: isSigned)
        request.isHinted = isHinted
        return request
    }

    /// Puts the client's screen in place of `dpr=auto`; false where that is not given.
    private func applyScreenHint(
        _ hint: ScreenHint?, to parameters: inout ImageParameters
    ) throws(ImageRequestError) -> Bool {
        guard parameters.hasAutomaticDPR else { return false }
        guard let hint else {
            throw .invalidParameter(
                name: "dpr", position: 0, reason: "'auto' needs the setting http.clientHints")
        }
        parameters.dpr = hint.ratio
        if hint.ratio != nil { parameters.isShapedByPreset = false }
        return true
    }

    /// What every request has to pass before its plan is read: time, source, options, priority, placeholder.
    private func check(
        _ parameters: ImageParameters, isSigned: Bool, at now: Int64
    ) throws(ImageRequestError) -> SourceURL {
        if let expires = parameters.delivery.expires, expires <= now { throw .urlExpired }
        let url = try source(of: parameters, isSigned: isSigned)
        if !isSigned { try checkOptions(of: parameters) }
        guard
            mayGoFirst(isSigned) || parameters.delivery.priority != .high
                || parameters.presetDelivery.priority == .high
        else { throw .optionForbidden("priority=high") }
        try checkPlaceholder(parameters.delivery)
        guard url.isUpload || policy.sources.allows(url) else { throw .sourceForbidden }
        return url
    }

    /// The source: what the parameters name, or what the request brings.
    private func source(of parameters: ImageParameters, isSigned: Bool) throws(ImageRequestError) -> SourceURL
    {
        guard let upload else {
            guard let url = parameters.url else { throw .missingParameter("url") }
            // No client gets an upload of another one by its name.
            guard !url.isUpload else { throw .sourceForbidden }
            return url
        }
        guard parameters.url == nil else {
            throw .invalidParameter(
                name: "url", position: 0, reason: "only without a body, which is the picture")
        }
        guard isSigned || policy.allowsUploads else { throw .uploadForbidden }
        return upload
    }

    private func mayGoFirst(_ isSigned: Bool) -> Bool { isSigned || policy.allowsHighPriority }

    /// The request, with the origin's rule for its source.
    private func request(
        for url: SourceURL, _ plan: RenderPlan?, _ parameters: ImageParameters, isSigned: Bool
    ) throws(ImageRequestError) -> ImageRequest {
        let rule: OriginRule?
        do { rule = try policy.origins.rule(for: url) } catch { throw .sourceAmbiguous }
        var plan = plan
        if rule?.options.contains(.scaleDownLarge) == true { plan?.scalesDownLarge = true }
        var request = ImageRequest(source: url, plan: plan, rule: rule)
        request.delivery = parameters.delivery
        request.mayGoFirst = mayGoFirst(isSigned)
        let isShapedByOperator = parameters.isShapedByPreset && !parameters.isShrunkForClient
        request.workLimit = isSigned || isShapedByOperator ? nil : limits.unsignedWork
        // The operator's options need no signature.
        if let rule { request.delivery.options.formUnion(rule.options) }
        return request
    }

    /// Reads the target of `/info`, which has parameters for the source and for its look-up only.
    package func parseInformation(target: [UInt8], at now: Int64) throws(ImageRequestError) -> ImageRequest {
        let (query, isSigned) = try checkedQuery(of: target)
        let items = try QueryString(parsing: query, knowing: Self.informative.contains)
        return try parseInformation(items, isSigned: isSigned, at: now)
    }

    /// The same for parameters that stand for another proxy's URL.
    package func parseInformation(
        translated query: QueryString, isSigned: Bool, at now: Int64
    ) throws(ImageRequestError) -> ImageRequest {
        guard isSigned || !policy.signatures.isRequired else { throw .dialectSignatureRequired }
        let informative = query.items.filter { Self.informative.contains($0.name) }
        return try parseInformation(QueryString(items: informative), isSigned: isSigned, at: now)
    }

    private func parseInformation(
        _ query: QueryString, isSigned: Bool, at now: Int64
    ) throws(ImageRequestError) -> ImageRequest {
        var parameters = ImageParameters(buckets: policy.buckets)
        for item in query.items {
            guard Self.informative.contains(item.name), let read = ImageParameters.readers[item.name] else {
                throw .unknownParameter(
                    name: item.name.excerpt,
                    hint: "/info takes \(Self.informative.sorted().joined(separator: ", "))")
            }
            try read(&parameters, item.value)
        }
        var plan = rasterPlan
        plan.format = .information
        let url = try check(parameters, isSigned: isSigned, at: now)
        return try request(for: url, plan, parameters, isSigned: isSigned)
    }

    private static let informative: Set<String> = [
        "url", "url64", "expires", "tag", "options", "priority",
    ]

    /// A client's hint about its screen, where the configuration requests one.
    package struct ScreenHint: Sendable {
        /// The device pixel ratio; nil where the client names none.
        package var ratio: Double?

        /// Wraps a ratio.
        package init(ratio: Double?) {
            self.ratio = ratio
        }
    }

    package func allows(_ url: SourceURL) -> Bool { policy.sources.allows(url) }

    /// Reads a source on its own; nil when neither parameter is given.
    package static func source(
        url: String?, url64: String?, buckets: Buckets
    ) throws(ImageRequestError) -> SourceURL? {
        var parameters = ImageParameters(buckets: buckets)
        for (name, value) in [("url", url), ("url64", url64)] {
            if let value { try ImageParameters.readers[name]?(&parameters, value) }
        }
        return parameters.url
    }

    /// The source of a target that was refused, for the log; nil where it has no valid one.
    package func source(ofRefused target: [UInt8]) -> SourceURL? {
        // Ignored: what is wrong with the path, the query or the URL; the client's answer says it.
        guard let target = try? PathForm.query(of: target),
            let mark = target.firstIndex(of: UInt8(ascii: "?")),
            let items = try? QueryString(
                parsing: target[(mark + 1)...], knowing: Self.parameterNames.contains
            )
            .items
        else { return nil }
        let values = Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first }
        // Ignored: what is wrong with the URL; as above.
        return try? Self.source(url: values["url"], url64: values["url64"], buckets: policy.buckets)
    }

    /// The names of all parameters, `sig` included.
    package static let parameterNames: Set<String> = Set(ImageParameters.readers.keys).union(["sig"])

    /// Joins hints about an unknown parameter.
    private static func hint(_ parts: String?...) -> String? {
        let hints = parts.compactMap { $0 }
        return hints.isEmpty ? nil : hints.joined(separator: hints[0].hasSuffix("?") ? " " : "; ")
    }

    /// Returns all that is wrong with a preset: first with each parameter, then with all of them together.
    /// - Parameters:
    ///   - preset: as the settings have it.
    ///   - followsHints: whether clients' screens count.
    package func problems(of preset: Preset, followsHints: Bool = true) -> [ImageRequestError] {
        var parameters = ImageParameters(buckets: policy.buckets)
        var problems: [ImageRequestError] = []
        for (name, value) in preset.parameters.sorted(by: { $0.key < $1.key }) {
            do throws(ImageRequestError) {
                guard !Preset.forbiddenParameters.contains(name) else {
                    throw .unknownParameter(name: name, hint: "it belongs to a request, not to a preset")
                }
                try apply(name, value, to: &parameters)
                if name == "transform" { _ = try pipeline(from: parameters) }
                if name == "format" { _ = try formatChoice(value) { AcceptClass() } }
                if name == "placeholder" { try checkPlaceholder(parameters.delivery) }
            } catch {
                problems.append(error)
            }
        }
        guard problems.isEmpty else { return problems }
        do throws(ImageRequestError) {
            try checkTogether(parameters, followsHints)
            return []
        } catch {
            return [error]
        }
    }

    private func checkTogether(
        _ parameters: ImageParameters, _ followsHints: Bool
    ) throws(ImageRequestError) {
        guard followsHints || !parameters.hasAutomaticDPR else {
            throw .invalidParameter(
                name: "dpr", position: 0, reason: "'auto' needs the setting http.clientHints")
        }
        _ = try plan(from: parameters) { AcceptClass() }
    }

    private func parameters(of query: QueryString) throws(ImageRequestError) -> ImageParameters {
        var parameters = ImageParameters(buckets: policy.buckets)
        if let name = query.items.first(where: { $0.name == "preset" })?.value {
            guard let preset = policy.presets[name] else {
                let hint = requestHint(for: name, among: policy.presets.keys)
                throw .invalidParameter(
                    name: "preset", position: 0,
                    reason: "there is no preset '\(name.excerpt)' in the setting presets\(hint)")
            }
            try apply(preset, to: &parameters)
            parameters.presetDelivery = parameters.delivery
            parameters.isShapedByPreset = query.items.allSatisfy { Self.shapeless.contains($0.name) }
            parameters.presetNames = Set(preset.parameters.keys)
            parameters.delivery.preset = name
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
                    parameters.url == nil ? nil : "if it belongs to the source URL, encode '&' in that as %26"
                throw .unknownParameter(
                    name: item.name.excerpt, hint: Self.hint(ParameterHint.hint(for: item.name), escape))
            }
            guard !policy.onlyPresets || Self.shapeless.contains(item.name) else {
                throw .presetRequired(item.name)
            }
            try read(&parameters, item.value)
            parameters.presetNames.remove(item.name)
        }
        if policy.onlyPresets, parameters.isShrunkForClient {
            throw .presetRequired("options=scale-down-large")
        }
        return parameters
    }

    /// Parameters that go with a preset where nothing else may shape the image.
    private static let shapeless: Set<String> = [
        "url", "url64", "preset", "expires", "filename", "download", "tag", "placeholder", "options",
        "priority",
    ]

    private func apply(_ preset: Preset, to parameters: inout ImageParameters) throws(ImageRequestError) {
        for (name, value) in preset.parameters.sorted(by: { $0.key < $1.key }) {
            try apply(name, value, to: &parameters)
        }
    }

    private func apply(
        _ name: String, _ value: String, to parameters: inout ImageParameters
    ) throws(ImageRequestError) {
        guard let read = ImageParameters.readers[name] else {
            throw .unknownParameter(name: name, hint: ParameterHint.hint(for: name))
        }
        try read(&parameters, value)
    }

    private func checkOptions(of parameters: ImageParameters) throws(ImageRequestError) {
        let allowed = policy.allowedOptions.union(parameters.presetDelivery.options)
        let refused = parameters.delivery.options.intersection(.privileged).subtracting(allowed)
        if let name = refused.memberNames.first { throw .optionForbidden(name) }
        // Tags are stored as long as their results, and an operator purges by them: not every client may add
        // some.
        guard policy.allowsUnsignedTags || parameters.delivery.tags == parameters.presetDelivery.tags else {
            throw .optionForbidden("tag")
        }
    }

    private func checkPlaceholder(_ delivery: Delivery) throws(ImageRequestError) {
        guard let name = delivery.placeholder, !policy.placeholders.contains(name) else { return }
        let hint = requestHint(for: name, among: policy.placeholders)
        throw .invalidParameter(
            name: "placeholder", position: 0,
            reason: "there is no placeholder '\(name.excerpt)' in the setting placeholders\(hint)")
    }
}
