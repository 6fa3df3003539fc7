// SPDX-License-Identifier: Apache-2.0

import Primitives
import Synchronization

/// The events of one prefetch order: its progress once a second while it changes, and its end.
final class PrefetchTopic: EventTopic {
    private let service: PrefetchService
    private let token: String
    private let last = Mutex<PrefetchProgress?>(nil)

    init(service: PrefetchService, token: String) {
        self.service = service
        self.token = token
    }

    func present() -> EventStep { step(of: service.progress(of: token)) }

    func next() -> EventStep {
        let progress = service.progress(of: token)
        let isSame = last.withLock { last in
            defer { last = progress }
            return last == progress && progress?.ended == nil && progress != nil
        }
        return isSame ? .unchanged : step(of: progress)
    }

    /// An order that is no longer known has ended; its readers may request it, and learn that.
    private func step(of progress: PrefetchProgress?) -> EventStep {
        guard let progress else { return .last(ServerSentEvent(name: "prefetch", data: "{}")) }
        let event = ServerSentEvent(name: "prefetch", data: progress.json.compact)
        return progress.ended == nil ? .event(event) : .last(event)
    }
}
