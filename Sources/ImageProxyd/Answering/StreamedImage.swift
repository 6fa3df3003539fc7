// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// The bytes of an image that arrives, as the server sends them.
final class StreamedImage: HTTPBodyStream {
    private let body: ArrivingBody

    init(_ body: ArrivingBody) {
        self.body = body
    }

    func next(atMost count: Int, orWake wake: @escaping @Sendable () -> Void) -> HTTPBodyStep {
        switch body.next(atMost: count, orWake: wake) {
        case .piece(let piece): .piece(HTTPBody(piece))
        case .nothingYet: .nothingYet
        case .end: .end
        case .broken: .broken
        }
    }
}
