// SPDX-License-Identifier: Apache-2.0

import Dialects
package import HTTPServer
import Observability
import Request

/// The handlers of targets that are about a picture, and which of them a target leads to.
package final class ImageHandlers: Sendable {
    package let images: ImageHandler
    /// The same for facts about images.
    package let information: ImageHandler
    /// Those for other proxies' URLs, the longest path first; ours come before them, but for `PathForm`.
    private let dialects: [ImageHandler]
    /// Targets that are no pictures'; nil where there are none.
    private let reserved: ReservedTargets?

    package init(
        images: ImageHandler, information: ImageHandler, dialects: [ImageHandler],
        reserved: ReservedTargets?
    ) {
        self.images = images
        func prefix(_ handler: ImageHandler) -> [UInt8] { handler.dialectRoute?.prefix ?? [] }
        let other = dialects.first {
            prefix($0).isEmpty && $0.dialectRoute?.dialect.answersInformation == true
        }
        self.information = other ?? information
        self.dialects = dialects.sorted { prefix($0).count > prefix($1).count }
        self.reserved = reserved
    }

    /// Hot path: answers a hit. For pictures without a reference to their handler, which would be counted on every core.
    package func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        let route = unsafe request.withTarget { unsafe Metric.Route(of: $0) }
        guard route != .img else { return images.answersAtOnce(request, with: &response) }
        return unsafe request.withTarget { unsafe handler(of: $0, route) }?
            .answersAtOnce(request, with: &response) ?? false
    }

    /// Hot path: the handler of a target; nil where it is about no picture.
    package func handler(of target: UnsafeRawBufferPointer) -> ImageHandler? {
        unsafe handler(of: target, Metric.Route(of: target))
    }

    private func handler(of target: UnsafeRawBufferPointer, _ route: Metric.Route) -> ImageHandler? {
        switch route {
        case .img: images
        case .info: information
        case .other:
            unsafe isReserved(target)
                ? nil : dialectHandler(of: target) ?? (Self.isPathForm(target) ? images : nil)
        default: nil
        }
    }

    /// The handler of a path to which pictures may be sent. In the path form a source is named.
    package func bodyHandler(of target: UnsafeRawBufferPointer) -> ImageHandler? {
        let handler =
            unsafe Self.isPathForm(target) ? dialectHandler(of: target) : handler(of: target)
        return handler.flatMap { $0.takesUploads ? $0 : nil }
    }

    /// Hot path: whether a target is no picture's, also where other proxies' URLs begin with `/`.
    private func isReserved(_ target: UnsafeRawBufferPointer) -> Bool {
        guard let reserved, !dialects.isEmpty else { return false }
        return unsafe reserved.contains(target)
    }

    /// Hot path: whether parameters stand in the path.
    private static func isPathForm(_ target: UnsafeRawBufferPointer) -> Bool {
        unsafe target.starts(with: PathForm.prefix)
    }

    /// Hot path: the handler of another proxy's URLs whose path fits.
    private func dialectHandler(of target: UnsafeRawBufferPointer) -> ImageHandler? {
        guard !dialects.isEmpty else { return nil }
        return dialects.first { unsafe $0.dialectRoute?.matches(target) == true }
    }
}
