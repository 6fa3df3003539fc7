// SPDX-License-Identifier: Apache-2.0

import Answering
import Dialects
import Primitives
import Request
import URLs

/// What a URL of another proxy means that an operator has from a log.
extension DialectRoute {
    /// What a URL means, for an operator: a path without the prefix is taken as if it had it.
    /// - Throws: why there is no such picture, also where `/img` would refuse the translation.
    func translation(
        of request: LoggedRequest, by parser: ImageRequestParser
    ) throws(ImageRequestError) -> Translation {
        let target = target(of: request)
        let now = SystemTime.coarseSeconds()
        let translation = try translate(target, hasBody: request.hasBody, at: now)
        // Ignored: nothing; the name of no content is a URL. What the content is decides nothing here.
        let upload = request.hasBody ? try? SourceURL.upload([]) : nil
        _ = try read(
            target, hasBody: request.hasBody, by: upload.map { parser.taking($0) } ?? parser, at: now,
            dpr: nil,
            accept: { AcceptClass() })
        return translation
    }

    /// What a URL means, whatever `/img` would say to that.
    func explanation(of request: LoggedRequest) throws(ImageRequestError) -> Translation {
        try translate(target(of: request), hasBody: request.hasBody, at: SystemTime.coarseSeconds())
    }

    private func target(of request: LoggedRequest) -> [UInt8] {
        let start = String(decoding: prefix, as: UTF8.self)
        let hasPrefix = request.target.hasPrefix(start + "/")
        return Array((hasPrefix ? request.target : start + request.target).utf8)
    }
}
