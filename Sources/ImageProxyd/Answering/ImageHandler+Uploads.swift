// SPDX-License-Identifier: Apache-2.0

import Dialects
package import HTTPServer
import Pipeline
import Primitives
import Request
import URLs

/// Requests that bring the picture as their body (`POST`).
extension ImageHandler {
    /// Whether some request may bring the picture as its body.
    package var takesUploads: Bool { dialectRoute?.dialect.takesBodies ?? parser.takesUploads }

    /// Who takes a request's content.
    package func contentReceiver(of request: HTTPRequest) -> UploadedContent {
        UploadedContent(
            pipeline.newUpload(), in: uploads, from: ClientID(request.client),
            boundary: UploadedContent.boundary(of: request))
    }

    /// Whether a request may, by its signature or the settings.
    package func mayUpload(_ request: HTTPRequest) -> Bool {
        let target = unsafe request.withTarget { unsafe Array($0) }
        guard let dialectRoute else { return parser.mayUpload(to: target) }
        // Ignored: why it has no translation; the answer reports it to the client.
        guard
            let translation = try? dialectRoute.translate(
                target, hasBody: true, key: key(of: request), at: clock().seconds)
        else { return false }
        return translation.isSigned || parser.allowsUploads
    }

    /// Answers a request whose picture is its content.
    ///
    /// - Parameter isOperator: whether it came by the operators' listener.
    package func answer(
        _ request: HTTPRequest, with content: UploadedContent, isOperator: Bool = false
    ) -> HTTPAnswer {
        .later(context: ExchangeContext(route).packed) {
            await self.tracing.run(request, at: self.route) { context in
                await self.answerUpload(request, content, isOperator: isOperator, context)
            }
        }
    }

    private func answerUpload(
        _ request: HTTPRequest, _ content: UploadedContent, isOperator: Bool, _ context: FetchContext
    ) async -> HTTPResponse {
        var parsed: ImageRequest?
        do throws(PipelineError) {
            if !isOperator { try limit.check(request) }
            let (upload, url) = try await content.finish()
            let imageRequest = try parse(
                request, by: parser.taking(url, isOperator: isOperator), hasBody: true)
            parsed = imageRequest
            var context = context
            context.upload = upload
            // For its client alone, unless the settings keep what is made of uploads.
            let image = try await pipeline.answer(
                for: imageRequest, cookies: cachesUploads ? nil : [], context: context, streaming: .none)
            return try await response(image, imageRequest, for: request, context)
        } catch {
            return problem(error, parsed, for: request, context)
        }
    }

    /// Says why a request that should bring a picture can't, or that it brings none.
    package func refusal(of request: HTTPRequest, isOperator: Bool = false) -> HTTPResponse {
        do throws(PipelineError) {
            if !isOperator { try limit.check(request) }
            // A placeholder: only the permission is checked. Ignored: nothing; this one is valid.
            if let url = try? SourceURL.upload([]) {
                _ = try parse(request, by: parser.taking(url, isOperator: isOperator), hasBody: true)
            }
            throw .missingUpload
        } catch {
            return problem(error, nil, for: request, .none)
        }
    }
}
