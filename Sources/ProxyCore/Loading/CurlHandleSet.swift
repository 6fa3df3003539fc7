// SPDX-License-Identifier: Apache-2.0

import CCurl

/// libcurl's multi handle: transfers that share connections, names and TLS sessions. Confined to the loader's
/// thread.
@safe
final class CurlHandleSet {
    // Safe because only this object and its waker know the pointer; the inbox drops the waker before this
    // object is freed.
    private let raw: UnsafeMutableRawPointer
    /// How the set's TLS sessions have ended; closing the connections reports to it, too.
    let endings = TLSEndings()

    /// Creates an empty set that keeps up to `idleConnections` connections open; nil if libcurl has no
    /// memory.
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

    /// Changes the number of connections that are kept open.
    func keep(idleConnections: Int) {
        // Cannot fail: the same call succeeded when the set was created.
        _ = unsafe ccurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, idleConnections)
    }

    /// Wakes `wait` from another thread.
    var waker: CurlWaker { unsafe CurlWaker(raw) }

    /// Starts a prepared transfer; false if libcurl refuses.
    func add(_ handle: CurlHandle) -> Bool {
        unsafe curl_multi_add_handle(raw, handle.raw) == CURLM_OK
    }

    /// Removes a transfer; one that has not ended is aborted, and its connection closed.
    func remove(_ handle: CurlHandle) {
        // The code can only say that the handle was not in the set, which is the intended state.
        unsafe _ = curl_multi_remove_handle(raw, handle.raw)
    }

    /// Does all work that does not block, callbacks included; false if libcurl fails.
    func perform() -> Bool {
        endings.forget()
        var running: Int32 = 0
        return unsafe curl_multi_perform(raw, &running) == CURLM_OK
    }

    /// Returns the transfers that have ended since the last call.
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

    /// Waits until a socket is ready, a libcurl timer expires, another thread calls `wake`, or the time has
    /// passed.
    func wait(milliseconds: Int) -> Bool {
        unsafe curl_multi_poll(raw, nil, 0, Int32(clamping: milliseconds), nil) == CURLM_OK
    }

    /// curl_global_init, once for the process; the `static let` also serializes it (libcurl is thread-safe
    /// here since 7.84).
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}

/// Ends the wait of a set from any thread.
// Safe because curl_multi_wakeup may be called from any thread, and the inbox that holds this object drops it
// before the set is freed.
@safe
struct CurlWaker: @unchecked Sendable {
    private let raw: UnsafeMutableRawPointer

    fileprivate init(_ raw: UnsafeMutableRawPointer) {
        unsafe self.raw = raw
    }

    /// Wakes the set during its current or its next wait.
    func wake() {
        // It fails only if its socket pair is full; then the set wakes anyway.
        unsafe _ = curl_multi_wakeup(raw)
    }
}
