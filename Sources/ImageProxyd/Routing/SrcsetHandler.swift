// SPDX-License-Identifier: Apache-2.0

import Answering
import Bodies
import Cache
internal import HTTPServer
import Imaging
import Loading
import Observability
import Pipeline
import Primitives
import Request

/// Answers `GET /srcset?url=…&widths=…`: what a page needs to show a picture in several widths, as JSON: URLs, sizes, and
/// placeholders.
///
/// It fetches the source once, and renders its smallest placeholder; the widths themselves are rendered when they are
/// requested.
struct SrcsetHandler: Sendable {
    let pipeline: ImagePipeline
    let parser: ImageRequestParser
    let signatures: SignaturePolicy
    /// The key that URLs are signed with; nil if there is none.
    let key: [UInt8]?
    let loopGuard: LoopGuard
    let limit: ClientLimit
    let crossOrigin: CrossOriginPolicy
    let tracing: RequestTracing
    let clock: @Sendable () -> WallTime

    /// The maximum number of widths.
    static let maxWidths = 16
    /// The largest width, in pixels.
    static let maxWidth = 8_192
    /// The widths where the request names none: those of usual screens, and half of them.
    static let usualWidths = [320, 640, 960, 1_280, 1_920, 2_560]
    /// The longer side of the placeholder, in pixels.
    private static let placeholderSide = 24
    /// The maximum size of a placeholder, in bytes; a larger one is left out.
    private static let maxPlaceholderBytes = 2_048
    /// The maximum size of all URLs of an answer, in bytes: each width's stands twice in it, and a client chooses how long
    /// they are.
    private static let maxURLBytes = 32 << 10
    /// What a URL has beside the source and the parameters that are passed on: transform and signature, in bytes.
    private static let otherBytes = 120
    /// Parameters that are those of each URL, too.
    private static let passed = ["format", "quality", "expires"]

    /// The parameters of one request.
    private struct Order {
        /// `url=…` or `url64=…`, as it stands in each URL.
        var source: String
        var widths: [Int]
        var sizes: String?
        /// The other parameters of each URL, with `&` before each.
        var others: String
        /// Whether the URLs are signed.
        var isSigned: Bool
        var information: ImageRequest
        var placeholder: ImageRequest
    }

    /// - Parameter isOperator: whether the request came to the admin listener, which needs no signature.
    func answer(_ request: HTTPRequest, isOperator: Bool) -> HTTPAnswer {
        let context = ExchangeContext(isOperator ? .admin : .srcset)
        return .later(context: context.packed) {
            await tracing.run(request, at: .srcset) { fetch in
                var response = await response(to: request, isOperator: isOperator, fetch)
                if isOperator { response.context = context.packed }
                return response
            }
        }
    }

    private var mapping: ResponseMapping { ResponseMapping(crossOrigin: crossOrigin, route: .srcset) }

    private func response(
        to request: HTTPRequest, isOperator: Bool, _ context: FetchContext
    ) async -> HTTPResponse {
        var order: Order?
        do throws(PipelineError) {
            try loopGuard.check(request)
            if !isOperator { try limit.check(request) }
            let wanted = try self.order(request, isOperator: isOperator)
            order = wanted
            let information = try await image(wanted.information, context)
            var facts = JSONParser(try await pipeline.bytes(of: information))
            // Ignored: what is wrong with it; the facts are the daemon's own.
            guard let facts = try? facts.parse() else { throw .internalFailure("the facts are no JSON") }
            let text = json(facts, wanted, try await placeholder(wanted, context))
            var response = mapping.text(
                Array((text.compact + "\n").utf8), type: "application/json", information,
                wanted.information, for: request, at: clock())
            if isOperator { response.prepared = Self.unstored }
            response.note = ExchangeNote(information, for: wanted.information, context, sent: nil)
            return response
        } catch {
            var response = mapping.failure(error, to: request)
            response.note = ExchangeNote(
                error, source: order?.information.source, preset: nil, context)
            return response
        }
    }

    /// For operators, whose answers have signatures that clients can't get.
    private static let unstored: PreparedFields = {
        var fields = HTTPFields(reserving: 128)
        fields.append(.cacheControl, text: "no-store")
        fields.append(.contentType, text: "application/json")
        fields.append(.contentTypeOptions, text: "nosniff")
        return PreparedFields(fields)
    }()

    // MARK: - The request

    private func order(_ request: HTTPRequest, isOperator: Bool) throws(PipelineError) -> Order {
        let target = unsafe request.withTarget { unsafe Array($0) }
        do throws(ImageRequestError) {
            let outcome = try (isOperator ? SignaturePolicy.none : signatures).check(target)
            let query = outcome.signed.firstIndex(of: UInt8(ascii: "?")).map {
                Array(outcome.signed[($0 + 1)...])
            }
            return try order(query ?? [], isSigned: outcome.isSigned || isOperator, isOperator: isOperator)
        } catch {
            throw PipelineError(error)
        }
    }

    private func order(
        _ query: [UInt8], isSigned: Bool, isOperator: Bool
    ) throws(ImageRequestError) -> Order {
        let values: AdminQuery
        do throws(AdminFailure) {
            values = try AdminQuery(query, names: Set(Self.passed + ["url", "url64", "widths", "sizes"]))
        } catch .request(let error) {
            throw error
        } catch {
            throw .missingParameter("url")
        }
        guard let source = ["url", "url64"].first(where: { values[$0] != nil }) else {
            throw .missingParameter("url")
        }
        guard !parser.policy.onlyPresets else {
            throw .dialectOptionForbidden(
                option: "widths",
                reason:
                    "sizes are left to presets by security.onlyPresets: name a preset for each size in the page"
            )
        }
        let named = "\(source)=\((values[source] ?? "").asQueryValue)"
        let others = Self.passed.compactMap { name in values[name].map { "&\(name)=\($0.asQueryValue)" } }
            .joined()
        // Each error of a parameter that the URLs have, before anything is fetched.
        _ = try parse(named + "&transform=resize:16x" + others, isSigned)
        let side = Self.placeholderSide
        let widths = try Self.widths(values["widths"])
        let bytes = (named.utf8.count + others.utf8.count + Self.otherBytes) * (widths.count * 2 + 1)
        guard bytes <= Self.maxURLBytes else {
            throw .invalidParameter(
                name: "widths", position: 0,
                reason: "\(widths.count) widths of a URL this long make \(bytes) bytes of URLs, and at most "
                    + "\(Self.maxURLBytes) are answered: name fewer, or a shorter source (url64)")
        }
        return Order(
            source: named, widths: widths, sizes: values["sizes"], others: others,
            isSigned: isSigned && key != nil,
            information: try parser.parseInformation(
                translated: QueryString(items: [QueryItem(name: source, value: values[source] ?? "")]),
                isSigned: isSigned, at: clock().seconds),
            placeholder: try parse(
                "\(named)&transform=resize:\(side)x\(side)&format=webp&quality=40&metadata=none&animate=first",
                isSigned))
    }

    private func parse(_ query: String, _ isSigned: Bool) throws(ImageRequestError) -> ImageRequest {
        try parser.parse(query: Array(query.utf8), isSigned: isSigned, at: clock().seconds) { AcceptClass() }
    }

    /// The widths of a list such as `320,640`, in order, each once.
    static func widths(_ text: String?) throws(ImageRequestError) -> [Int] {
        guard let text else { return usualWidths }
        var widths: Set<Int> = []
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= maxWidths else {
            throw .invalidParameter(
                name: "widths", position: 0, reason: "has \(parts.count) widths, at most \(maxWidths)")
        }
        for part in parts {
            let isNumber = part.utf8.allSatisfy(\.isASCIIDigit)
            guard isNumber, let width = Int(part), (1...maxWidth).contains(width) else {
                let position = text.utf8.distance(from: text.startIndex, to: part.startIndex)
                throw .invalidParameter(
                    name: "widths", position: position,
                    reason:
                        "'\(part.excerpt)' is no width: whole numbers of 1 to \(maxWidth), separated by commas"
                )
            }
            widths.insert(width)
        }
        return widths.sorted()
    }

    // MARK: - The answer

    private func image(
        _ request: ImageRequest, _ context: FetchContext
    ) async throws(PipelineError) -> ImageResponse {
        switch try await pipeline.answer(for: request, context: context, streaming: .none) {
        case .whole(let image): return image
        case .streaming: throw .internalFailure("an image was streamed that was wanted whole")
        }
    }

    /// A very small picture as a data URI; nil where it would be large.
    private func placeholder(
        _ order: Order, _ context: FetchContext
    ) async throws(PipelineError) -> String? {
        let image = try await image(order.placeholder, context)
        guard image.body.count <= Self.maxPlaceholderBytes else { return nil }
        let text = Base64.encode(try await pipeline.bytes(of: image))
        return "data:\(image.description.format.traits.mediaType);base64,\(text)"
    }

    private func json(_ facts: JSONValue, _ order: Order, _ placeholder: String?) -> JSONValue {
        let (width, height) = (facts.side("uprightWidth") ?? 1, facts.side("uprightHeight") ?? 1)
        // Nothing is enlarged: the source's own width stands for those beyond it.
        var widths = order.widths.filter { $0 < width }
        if widths.count < order.widths.count { widths.append(width) }
        let images = widths.map { (width: $0, url: url(ofWidth: $0, order)) }
        let largest = images.last ?? (width, url(ofWidth: width, order))
        return [
            "width": .integer(width), "height": .integer(height),
            "src": .string(largest.url),
            "srcset": .string(images.map { "\($0.url) \($0.width)w" }.joined(separator: ", ")),
            "sizes": .string(order.sizes ?? "(max-width: \(largest.width)px) 100vw, \(largest.width)px"),
            "images": .array(
                images.map { image in
                    let scaled = Int((Double(image.width) * Double(height) / Double(width)).rounded())
                    return [
                        "url": .string(image.url), "width": .integer(image.width),
                        "height": .integer(max(1, scaled)),
                    ]
                }),
            "blurHash": facts["blurHash"] ?? .null, "thumbHash": facts["thumbHash"] ?? .null,
            "dominantColor": facts["dominantColor"] ?? .null,
            "placeholder": placeholder.map { .string($0) } ?? .null,
        ]
    }

    private func url(ofWidth width: Int, _ order: Order) -> String {
        let target = "/img?\(order.source)&transform=resize:\(width)x\(order.others)"
        guard order.isSigned, let key else { return target }
        return SignaturePolicy.sign(target, with: key)
    }
}
