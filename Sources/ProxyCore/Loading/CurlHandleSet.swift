// SPDX-License-Identifier: Apache-2.0

import CCurl

/// libcurl's multi handle: transfers that share connections, names and TLS sessions; confined to the loader's thread.
///
/// libcurl is told of the sockets that have something (curl_multi_socket_action), so that a step costs what has happened
/// and not what is under way.
@safe
final class CurlHandleSet {
    // Safe because only this object knows the pointer. What libcurl calls back with, `sockets`, outlives it.
    private let raw: UnsafeMutableRawPointer
    private let sockets: SocketWatch

    /// An empty set that keeps up to `idleConnections` connections open; nil when libcurl or the kernel has no memory.
    init?(idleConnections: Int) {
        guard Self.isLibraryReady, let sockets = SocketWatch(), let raw = unsafe curl_multi_init() else {
            return nil
        }
        unsafe self.raw = raw
        self.sockets = sockets
        let context = unsafe Unmanaged.passUnretained(sockets).toOpaque()
        guard unsafe ccurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, idleConnections) == CURLM_OK,
            unsafe ccurl_multi_set_socket_function(raw, watchSocket, context) == CURLM_OK,
            unsafe ccurl_multi_set_timer_function(raw, setTimer, context) == CURLM_OK
        else { return nil }
    }

    deinit {
        unsafe curl_multi_cleanup(raw)
    }

    /// What wakes `wait` from another thread.
    var waker: EventSignal { sockets.signal }

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
        for socket in sockets.takeReady() {
            guard act(socket.descriptor, Self.bits(of: socket)) else { return false }
        }
        // What is begun or ended here may set the timer to now; one that always does keeps nobody else waiting.
        for _ in 0..<Self.timerRounds where sockets.takeTimer() {
            guard act(CURL_SOCKET_TIMEOUT, 0) else { return false }
        }
        return true
    }

    /// Most turns that libcurl's timer gets before sockets and deadlines have theirs again.
    private static let timerRounds = 16

    private func act(_ socket: curl_socket_t, _ bits: Int32) -> Bool {
        var running: Int32 = 0
        return unsafe curl_multi_socket_action(raw, socket, bits, &running) == CURLM_OK
    }

    private static func bits(of socket: SocketWatch.Ready) -> Int32 {
        (socket.canRead ? CURL_CSELECT_IN : 0) | (socket.canWrite ? CURL_CSELECT_OUT : 0)
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
        sockets.wait(milliseconds: milliseconds)
    }

    /// curl_global_init, once for the process; thread-safe since libcurl 7.84 and here by the `static let` anyway.
    private static let isLibraryReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}

// MARK: - Callbacks: libcurl's side of the loader's thread

// Safe because the set made the context of a watch that it keeps for as long as libcurl may call back.
private func watch(_ context: UnsafeMutableRawPointer?) -> SocketWatch? {
    unsafe context.map { unsafe Unmanaged<SocketWatch>.fromOpaque($0).takeUnretainedValue() }
}

/// libcurl wants to hear of a socket, of something else of it, or no longer.
private func watchSocket(
    _ handle: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32,
    _ context: UnsafeMutableRawPointer?, _ own: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe watch(context)?.watch(
        socket, forReading: what == CURL_POLL_IN || what == CURL_POLL_INOUT,
        forWriting: what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
    return 0
}

/// libcurl wants its turn after so many milliseconds; never, below 0.
private func setTimer(
    _ set: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe watch(context)?.setTimer(milliseconds: milliseconds)
    return 0
}
