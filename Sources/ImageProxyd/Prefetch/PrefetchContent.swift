// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
import Synchronization

/// The content of a request about prefetching: what is beyond the bound is discarded.
final class PrefetchContent: HTTPContentReceiving {
    private struct State {
        var bytes: [UInt8] = []
        var isTooLarge = false
    }

    private let state = Mutex(State())

    func receive(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            guard state.bytes.count + bytes.count <= PrefetchBody.maxBytes else {
                state = State(isTooLarge: true)
                return
            }
            if !state.isTooLarge { unsafe state.bytes.append(contentsOf: bytes) }
        }
    }

    /// Returns the content, and releases it.
    func take() throws(AdminFailure) -> [UInt8] {
        let (bytes, isTooLarge) = state.withLock { state in
            defer { state.bytes = [] }
            return (state.bytes, state.isTooLarge)
        }
        guard !isTooLarge else { throw .contentTooLarge }
        return bytes
    }
}
