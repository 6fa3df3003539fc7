// SPDX-License-Identifier: Apache-2.0

import CCurl
import Primitives

/// libcurl's multi handle: transfers that share connections, names and TLS sessions. Confined to the loader's
/// thread.
@safe
final class CurlHandleSet {
    // Safe because only this object knows the pointer.
    private let raw: UnsafeMutableRawPointer
    /// How the set's TLS sessions have ended; closing the connections reports to it, too.
    let endings = TLSEndings()
    /// The sockets of its transfers.
    private let sockets: SocketWatch

    /// Creates an empty set that keeps up to `idleConnections` connections open; nil without memory or
    /// descriptors.
    init?(idleConnections: Int) {
        guard Self.isLibraryReady, let sockets = SocketWatch(), let raw = unsafe curl_multi_init() else {
            return nil
        }
        unsafe self.raw = raw
        self.sockets = sockets
        guard unsafe ccurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, idleConnections) == CURLM_OK,
            unsafe ccurl_multi_set_socket_function(
                raw, watchSocket, Unmanaged.passUnretained(sockets).toOpaque()) == CURLM_OK
        else { return nil }
    }

    deinit {
        unsafe curl_multi_cleanup(raw)
    }

    /// Changes the number of connections that are kept open.
    func keep(idleConnections: Int) {
        // Cannot fail: the same call succeeded when the set was created.
        _ = unsafe ccurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, idleConnections)
    }

    /// Wakes `wait` from another thread, as long as the set exists.
    var waker: SocketWatch.Waker { sockets.waker }

    /// Starts a prepared transfer; false if libcurl refuses.
    func add(_ handle: CurlHandle) -> Bool {
        unsafe curl_multi_add_handle(raw, handle.raw) == CURLM_OK
    }

    /// Removes a transfer; one that has not ended is aborted, and its connection closed.
    func remove(_ handle: CurlHandle) {
        // The code can only say that the handle was not in the set, which is the intended state.
        unsafe _ = curl_multi_remove_handle(raw, handle.raw)
    }

    /// Waits until a socket is ready, it is time for libcurl to go on, another thread calls `wake`, or the time has
    /// passed; returns the sockets that are ready.
    func wait(milliseconds: Int) -> [SocketWatch.Event] {
        sockets.wait(milliseconds: min(milliseconds, millisecondsUntilDue ?? milliseconds))
    }

    /// The transfer that a ready socket serves, one of them with HTTP/2; nil if it serves none by now.
    func handle(at event: SocketWatch.Event) -> UInt? { sockets.handle(at: event.socket) }

    /// Serves ready sockets and expired timers, and starts added transfers; runs their callbacks, and does
    /// not block. False if libcurl fails.
    func perform(_ events: [SocketWatch.Event]) -> Bool {
        endings.forget()
        for event in events where sockets.handle(at: event.socket) != nil {
            let readiness =
                (event.isReadable ? CURL_CSELECT_IN : 0) | (event.isWritable ? CURL_CSELECT_OUT : 0)
            guard act(on: event.socket, readiness) else { return false }
        }
        return millisecondsUntilDue != 0 || act(on: CURL_SOCKET_TIMEOUT, 0)
    }

    /// Does the work of every transfer, also of those that wait for a later time; false if libcurl fails.
    func performAll() -> Bool {
        endings.forget()
        var running: CInt = 0
        return unsafe ccurl_multi_perform_all(raw, &running) == CURLM_OK
    }

    private func act(on socket: curl_socket_t, _ readiness: CInt) -> Bool {
        var running: CInt = 0
        return unsafe curl_multi_socket_action(raw, socket, readiness, &running) == CURLM_OK
    }

    /// How long libcurl may be left alone; nil if only an event gives it work.
    private var millisecondsUntilDue: Int? {
        var milliseconds = -1
        guard unsafe curl_multi_timeout(raw, &milliseconds) == CURLM_OK, milliseconds >= 0 else { return nil }
        return milliseconds
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

    /// curl_global_init, once for the process; the `static let` also serializes it (libcurl is thread-safe
    /// here since 7.84).
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}

/// Called by libcurl, within the calls of the set, when it waits for a socket, or no longer does.
private func watchSocket(
    _ handle: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: CInt,
    _ context: UnsafeMutableRawPointer?, _ assigned: UnsafeMutableRawPointer?
) -> CInt {
    // Safe because the set, which calls libcurl, holds the object.
    guard let context = unsafe context else { return -1 }
    let sockets = unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue()
    guard what != CURL_POLL_REMOVE else {
        sockets.remove(socket)
        return 0
    }
    sockets.update(
        socket, of: UInt(bitPattern: handle), reads: what & CURL_POLL_IN != 0,
        writes: what & CURL_POLL_OUT != 0)
    return 0
}
