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
    /// Facts in another proxy's form, or a data URL: converted for each answer, which has no validators.
    package func text(
        _ image: ImageResponse, by foreign: ForeignRoute, _ imageRequest: ImageRequest,
        for request: HTTPRequest, _ context: FetchContext
    ) throws(PipelineError) -> HTTPResponse {
        let stored = try image.bytes()
        let target = unsafe request.withTarget { unsafe Array($0) }
        do throws(ImageRequestError) {
            let text: [UInt8]
            if imageRequest.isInformation {
                text = try foreign.facts(stored, for: target, at: clock().seconds)
            } else {
                text = Array(
                    "data:\(image.description.format.row.mediaType);base64,\(Base64.encode(stored))".utf8)
            }
            var response = mapping.text(
                text, type: imageRequest.isInformation ? "application/json" : "text/plain", image,
                imageRequest,
                for: request, at: clock())
            response.note = ExchangeNote(
                image, for: imageRequest, context, sent: response.note as? ExchangeNote)
            return response
        } catch {
            throw PipelineError(error)
        }
    }

    /// The key that a request has in a field, where another proxy's URLs may have it there.
    package func key(of request: HTTPRequest) -> String? {
        guard let field = foreign?.keyField, let key = request.values(of: field).first, !key.isEmpty else {
            return nil
        }
        return key
    }

    /// The error as the other proxy's clients expect it; nil for ours.
    func compatible(_ error: PipelineError) -> CompatibleError? {
        foreign?.compatible(ProblemDocument(error))
    }
}

extension ImageResponse {
    /// All bytes; may read a file.
    package func bytes() throws(PipelineError) -> [UInt8] {
        switch body {
        case .bytes(let bytes): return bytes
        case .file(let file, let offset, let length):
            do throws(BodyError) {
                return try file.readAll(from: offset, count: Int(length))
            } catch {
                throw .internalFailure("\(error)")
            }
        }
    }
}
