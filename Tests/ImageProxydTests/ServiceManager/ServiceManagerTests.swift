// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Answering
@testable import ImageProxyd

/// Each test runs in a process of its own, because libsystemd reads the environment of its process.
@Suite("Service manager")
struct ServiceManagerTests {
    @Test("Every message arrives at the notification socket in the format of sd_notify(3)")
    func messages() async {
        await #expect(processExitsWith: .success) {
            let socket = try NotifySocket()
            let manager = ServiceManager()

            #expect(try manager.send(.ready(status: "serving\nWATCHDOG=1")))
            #expect(socket.receive() == "READY=1\nSTATUS=serving WATCHDOG=1")
            #expect(try manager.send(.reloading(monotonicMicroseconds: 42)))
            #expect(socket.receive() == "RELOADING=1\nMONOTONIC_USEC=42")
            #expect(try manager.send(.alive))
            #expect(socket.receive() == "WATCHDOG=1")
            #expect(try manager.send(.needsTime(.milliseconds(1_500))))
            #expect(socket.receive() == "EXTEND_TIMEOUT_USEC=1500000")
            #expect(try manager.send(.stopping))
            #expect(socket.receive() == "STOPPING=1")
        }
    }

    @Test("Without a service manager messages are dropped without an error")
    func withoutServiceManager() async {
        await #expect(processExitsWith: .success) {
            unsetenv("NOTIFY_SOCKET")

            let sent = (try ServiceManager().send(.ready(status: "x")), try ServiceManager().send(.stopping))
            let sockets = try ServiceManager().inheritSockets()

            #expect(sent == (false, false))
            #expect(ServiceManager().watchdogInterval == nil)
            #expect(sockets.isEmpty)
        }
    }

    @Test("A missing notification socket is an error")
    func gone() async {
        await #expect(processExitsWith: .success) {
            setenv("NOTIFY_SOCKET", "/tmp/imageproxyd-no-such-socket", 1)

            #expect(throws: ServiceManager.Failure(code: ENOENT)) {
                try ServiceManager().send(.ready(status: "x"))
            }
            #expect("\(ServiceManager.Failure(code: ENOENT))" == "NOTIFY_SOCKET: No such file or directory")
        }
    }

    @Test("The watchdog's interval comes from systemd")
    func watchdog() async {
        await #expect(processExitsWith: .success) {
            setenv("WATCHDOG_USEC", "30000000", 1)
            setenv("WATCHDOG_PID", "\(getpid())", 1)
            #expect(ServiceManager().watchdogInterval == .seconds(30))

            setenv("WATCHDOG_PID", "1", 1)
            #expect(ServiceManager().watchdogInterval == nil)
        }
    }

    @Test("Sockets that systemd opened are taken over once, with their names")
    func inherited() async {
        await #expect(processExitsWith: .success) {
            let firstDescriptor: CInt = 3
            // The number may be in use by the test runner: it is saved, and restored before anything is
            // expected.
            let saved = dup(firstDescriptor)
            let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            dup2(listener, firstDescriptor)
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", "1", 1)
            setenv("LISTEN_FDNAMES", "public", 1)
            let first = Result { try ServiceManager().inheritSockets() }
            let second = Result { try ServiceManager().inheritSockets() }
            let flags = fcntl(firstDescriptor, F_GETFD)
            if saved >= 0 { dup2(saved, firstDescriptor) }

            let (found, rest) = (try first.get(), try second.get())
            #expect(found == [.init(descriptor: 3, name: "public")])
            #expect(rest.isEmpty)
            #expect(flags & FD_CLOEXEC != 0)
        }
    }

    @Test("Sockets that are meant for another process are ignored")
    func foreign() async {
        await #expect(processExitsWith: .success) {
            setenv("LISTEN_PID", "1", 1)
            setenv("LISTEN_FDS", "1", 1)

            let sockets = try ServiceManager().inheritSockets()

            #expect(sockets.isEmpty)
        }
    }
}

/// The manager's end: a unix datagram socket named in `NOTIFY_SOCKET`.
private final class NotifySocket {
    private let descriptor: CInt
    private let path: String

    init() throws {
        path = "/tmp/imageproxyd-notify-\(getpid()).sock"
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafeBytes(of: address) {
            bind(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        try #require(bound == 0)
        setenv("NOTIFY_SOCKET", path, 1)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    func receive() -> String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
