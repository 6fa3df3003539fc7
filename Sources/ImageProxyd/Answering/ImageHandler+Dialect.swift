// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
package import HTTPServer
import Imaging
package import Pipeline
import Primitives
package import Request

/// What only other proxies' URLs have.
extension ImageHandler {
    /// Facts in another proxy's form, or a data URL: converted for each answer.
    package func text(
        _ image: ImageResponse, by route: DialectRoute, _ imageRequest: ImageRequest,
        for request: HTTPRequest, _ context: FetchContext
    ) async throws(PipelineError) -> HTTPResponse {
        var image = image
        var response: HTTPResponse
        if imageRequest.isInformation {
            let facts = try facts(try await pipeline.bytes(of: image), by: route, for: request)
            response = mapping.text(
                facts, type: "application/json", image, imageRequest, for: request, at: clock())
        } else {
            guard image.body.count <= Self.maxDataURLPicture else { throw .dataURLTooLarge }
            let bytes = try await pipeline.bytes(of: image)
            response = try mapping.text(
                type: "text/plain", Validators(taggingTextOf: image.description.contentHash), image,
                imageRequest, for: request, at: clock()
            ) { () throws(PipelineError) in try dataURL(of: &image, bytes) }
        }
        response.note = ExchangeNote(
            image, for: imageRequest, context, sent: response.note as? ExchangeNote)
        return response
    }

    private func facts(
        _ stored: [UInt8], by route: DialectRoute, for request: HTTPRequest
    ) throws(PipelineError) -> [UInt8] {
        let target = unsafe request.withTarget { unsafe Array($0) }
        do throws(ImageRequestError) {
            return try route.facts(stored, for: target, at: clock().seconds)
        } catch {
            throw PipelineError(error)
        }
    }

    /// The picture as a data URL, whose memory is counted until it is sent.
    private func dataURL(
        of image: inout ImageResponse, _ bytes: [UInt8]
    ) throws(PipelineError) -> [UInt8] {
        var text = Array("data:\(image.description.format.traits.mediaType);base64,".utf8)
        guard let lease = pipeline.leaseMemory(text.count + Base64.encodedCount(bytes.count)) else {
            throw .queueFull
        }
        Base64.append(bytes, to: &text)
        (image.entry, image.lease) = (nil, lease)
        return text
    }

    /// The longest picture that is sent as a data URL, in bytes: encoding takes milliseconds, on a thread for short work.
    private static let maxDataURLPicture = 1 << 20

    /// The key that a request has in a field, where another proxy's URLs may have it there.
    package func key(of request: HTTPRequest) -> String? {
        guard let field = dialectRoute?.keyField, let key = request.values(of: field).first, !key.isEmpty
        else { return nil }
        return key
    }

    /// The error as the other proxy's clients expect it; nil for ours.
    func compatible(_ error: PipelineError) -> CompatibleError? {
        dialectRoute?.compatible(ProblemDocument(error))
    }
}
