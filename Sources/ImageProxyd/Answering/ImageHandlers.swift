// SPDX-License-Identifier: Apache-2.0

import Dialects
internal import HTTPServer
import Observability
import Request

/// The handlers of targets that are about a picture, and which of them a target leads to.
final class ImageHandlers: Sendable {
    let images: ImageHandler
    /// The same for facts about images.
    let information: ImageHandler
    /// Those for other proxies' URLs, the longest path first; ours come before them, but for `PathForm`.
    private let foreign: [ImageHandler]
    /// The page to try things out; nil where it is off.
    private let playground: PlaygroundHandler?

    init(
        images: ImageHandler, information: ImageHandler, foreign: [ImageHandler],
        playground: PlaygroundHandler?
    ) {
        self.images = images
        func prefix(_ handler: ImageHandler) -> [UInt8] { handler.foreign?.prefix ?? [] }
        let other = foreign.first { prefix($0).isEmpty && $0.foreign?.dialect.answersInformation == true }
        self.information = other ?? information
        self.foreign = foreign.sorted { prefix($0).count > prefix($1).count }
        self.playground = playground
    }

    /// Hot path: answers a hit. For pictures without a reference to their handler, which would be counted on every core.
    func answersAtOnce(_ request: HTTPRequest, with response: inout HTTPResponse) -> Bool {
        let route = unsafe request.withTarget { unsafe Routes.route(of: $0) }
        guard route != .img else { return images.answersAtOnce(request, with: &response) }
        return unsafe request.withTarget { unsafe handler(of: $0, route) }?
            .answersAtOnce(request, with: &response) ?? false
    }

    /// Hot path: the handler of a target; nil where it is about no picture.
    func handler(of target: UnsafeRawBufferPointer) -> ImageHandler? {
        unsafe handler(of: target, Routes.route(of: target))
    }

    private func handler(of target: UnsafeRawBufferPointer, _ route: Metric.Route) -> ImageHandler? {
        switch route {
        case .img: images
        case .info: information
        case .other:
            unsafe isPlayground(target)
                ? nil : foreignHandler(of: target) ?? (Self.isPathForm(target) ? images : nil)
        default: nil
        }
    }

    /// The handler of a path to which pictures may be sent. In the path form a source is named.
    func bodyHandler(of target: UnsafeRawBufferPointer) -> ImageHandler? {
        let handler =
            unsafe Self.isPathForm(target) ? foreignHandler(of: target) : handler(of: target)
        return handler.flatMap { $0.takesUploads ? $0 : nil }
    }

    /// Hot path: whether a target is the playground's, also where other proxies' URLs begin with `/`. Its page is at `/`
    /// only where they do not.
    private func isPlayground(_ target: UnsafeRawBufferPointer) -> Bool {
        guard let playground, !foreign.isEmpty else { return false }
        return unsafe playground.has(target)
    }

    /// Hot path: whether parameters stand in the path.
    private static func isPathForm(_ target: UnsafeRawBufferPointer) -> Bool {
        unsafe target.starts(with: PathForm.prefix)
    }

    /// Hot path: the handler of another proxy's URLs whose path fits.
    private func foreignHandler(of target: UnsafeRawBufferPointer) -> ImageHandler? {
        guard !foreign.isEmpty else { return nil }
        return foreign.first { unsafe $0.foreign?.leads(to: target) == true }
    }
}
