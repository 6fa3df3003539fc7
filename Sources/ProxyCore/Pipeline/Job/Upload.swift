// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Loading
import Primitives
import Request
package import URLs

/// A picture that a client sends with its request: what is received becomes the original, and nothing is fetched.
package final class Upload: Sendable {
    /// The bytes as they arrive: a buffer, beyond it an unnamed file.
    let body: PartialBody

    init(body: PartialBody) {
        self.body = body
    }

    /// Adds bytes; may block as a file's page cache does. One thread at a time may call it.
    /// - Throws: why they can't be kept.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(PipelineError) {
        do throws(BodyError) {
            try unsafe body.append(bytes)
        } catch {
            throw PipelineError(LoadError(error))
        }
    }

    /// Ends the content.
    /// - Returns: the URL that stands for it, by its hash; nil if it is empty or could not be kept.
    package func finish() -> SourceURL? {
        body.finish()
        guard let content = body.content, content.body.count > 0 else { return nil }
        // Ignored: nothing, since the URL is valid whatever the hash.
        return try? .upload(content.hash.bytes)
    }

    /// The head under which it is received: bytes of this hash never change.
    /// - Parameter isKept: whether what is made of it may be stored.
    static func head(at now: WallTime, isKept: Bool) -> OriginHead {
        let value = isKept ? "max-age=31536000, immutable" : "no-store"
        return OriginHead(
            status: 200, fields: [HeaderField(name: "cache-control", value: value)], contentLength: nil,
            requestTime: now, responseTime: now)
    }
}

extension ImagePipeline {
    /// An empty upload.
    package func newUpload() -> Upload {
        Upload(body: tiers.newBody(keyText: "upload", scope: .disk).body)
    }
}
