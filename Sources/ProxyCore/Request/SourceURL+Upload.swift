// SPDX-License-Identifier: Apache-2.0

import Primitives
package import URLs

extension SourceURL {
    /// A host that no resolver knows (RFC 2606 §2).
    private static let uploadHost = "upload.invalid"

    /// Stands for content that came with a request.
    /// - Parameter hash: of the content.
    package static func upload(_ hash: [UInt8]) throws(SourceURLError) -> SourceURL {
        let digits = hash.map(\.hexadecimal).joined()
        return try SourceURL(parsing: "http://\(Self.uploadHost)/\(digits)")
    }

    /// Whether it stands for content that came with a request.
    package var isUpload: Bool { host == Self.uploadHost }
}
