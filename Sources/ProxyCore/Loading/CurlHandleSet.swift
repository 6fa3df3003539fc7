// SPDX-License-Identifier: Apache-2.0

import CCurl

/// libcurl's multi handle: transfers that share connections, names and TLS sessions; confined to the loader's thread.
@safe
final class CurlHandleSet {
    // Safe because only this object and its waker know the pointer; the inbox forgets the waker before this goes.
    private let raw: UnsafeMutableRawPointer
    /// What the connections of the set have come to; closing them tells it, too.
    let endings = TLSEndings()

    /// An empty set that keeps up to `idleConnections` connections open; nil when libcurl has no memory.
    init?(idleConnections: Int) {
        guard Self.isLibraryReady, let raw = unsafe curl_multi_init() else { return nil }
        unsafe self.raw = raw
        guard unsafe ccurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, idleConnections) == CURLM_OK else {
            return nil
        }
    }

    deinit {
        unsafe curl_multi_cleanup(raw)
    }

    /// Keeps up to another number of connections open.
    func keep(idleConnections: Int) {
        // Cannot fail: the same call has succeeded when the set was made.
        _ = unsafe ccurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, idleConnections)
    }

    /// What wakes `wait` from another thread.
    var waker: CurlWaker { unsafe CurlWaker(raw) }

    /// Starts a prepared transfer; false when libcurl refuses.
    func add(_ handle: CurlHandle) -> Bool {
        unsafe curl_multi_add_handle(raw, handle.raw) == CURLM_OK
    }

    /// Takes a transfer out; one that has not ended is broken off, and its connection closed.
    func remove(_ handle: CurlHandle) {
        // The code can only tell that the handle was not in the set, which leaves it where it should be.
        unsafe _ = curl_multi_remove_handle(raw, handle.raw)
    }

    /// Does what can be done without waiting, callbacks included; false when libcurl is out of order.
    func perform() -> Bool {
        endings.forget()
        var running: Int32 = 0
        return unsafe curl_multi_perform(raw, &running) == CURLM_OK
    }

    /// The transfers that have ended since the last call.
    func takeFinished() -> [(id: UInt, ending: CurlHandle.Ending)] {
        var finished: [(id: UInt, ending: CurlHandle.Ending)] = []
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(raw, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            let code = unsafe message.pointee.data.result
            finished.append(
                (unsafe UInt(bitPattern: message.pointee.easy_handle), CurlHandle.ending(of: code)))
        }
        return finished
    }

    /// Waits until a socket is ready, a timer of libcurl's is due, somebody wakes, or the time has passed.
    func wait(milliseconds: Int) -> Bool {
        unsafe curl_multi_poll(raw, nil, 0, Int32(clamping: milliseconds), nil) == CURLM_OK
    }

    /// curl_global_init, once for the process; thread-safe since libcurl 7.84 and here by the `static let` anyway.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}

/// Ends the wait of a set from any thread.
// Safe because curl_multi_wakeup may be called from any thread, and the inbox that holds this forgets it before the set
// is freed.
@safe
struct CurlWaker: @unchecked Sendable {
    private let raw: UnsafeMutableRawPointer

    fileprivate init(_ raw: UnsafeMutableRawPointer) {
        unsafe self.raw = raw
    }

    /// Wakes the set, now or at its next wait.
    func wake() {
        // It can only fail when its socket pair is full, and then the set is awake.
        unsafe _ = curl_multi_wakeup(raw)
    }
}
