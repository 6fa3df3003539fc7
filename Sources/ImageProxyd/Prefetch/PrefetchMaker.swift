// SPDX-License-Identifier: Apache-2.0

import Imaging
import Pipeline
import Primitives
import Request

/// Makes prefetched images under the current settings, as a client's request would have them made.
struct PrefetchMaker: Sendable {
    let pipeline: ImagePipeline
    let parser: ImageRequestParser
    let automatic: AutomaticFormats
    /// Whether clients' URLs are signed: then the bound for work of unsigned ones does not apply.
    let isSigned: Bool

    /// The request for one image of a source.
    func request(
        for url: String, _ variant: PrefetchPlan.Variant
    ) throws(ImageRequestError) -> ImageRequest {
        let items = [QueryItem(name: "url", value: url)] + variant.parameters
        return try parser.parse(
            translated: QueryString(items: items), isSigned: isSigned, at: pipeline.clock().seconds
        ) {
            AcceptClass(accept: variant.accept, candidates: automatic)
        }
    }

    /// What is wrong with an order's parameters, whatever its sources are; nil if nothing is.
    func problem(with plan: PrefetchPlan, at urls: [String]) -> ImageRequestError? {
        for variant in plan.variants {
            for url in urls.prefix(Self.maxTried) {
                do throws(ImageRequestError) {
                    _ = try request(for: url, variant)
                    break
                } catch {
                    // Another source may be allowed.
                    if error.isAboutSource { continue }
                    return error
                }
            }
        }
        return nil
    }

    /// The maximum number of sources with which parameters are tried.
    private static let maxTried = 16
}

extension ImageRequestError {
    /// Whether another source could be right with the same parameters.
    fileprivate var isAboutSource: Bool {
        switch self {
        case .invalidURL, .unsupportedScheme, .sourceForbidden, .sourceAmbiguous, .ofSource: true
        case .invalidParameter(let name, _, _): name == "url"
        default: false
        }
    }
}
