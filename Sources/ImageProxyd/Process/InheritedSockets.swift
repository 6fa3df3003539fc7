// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Primitives

/// The sockets that systemd opened for the daemon, by the listener that takes them over (systemd.socket(5)).
///
/// `FileDescriptorName=public`, `admin` and `metrics` say which; a socket without a name of its own, for which systemd gives the name of
/// its unit, is the public listener's.
struct InheritedSockets: Sendable {
    /// A socket and the address that it listens on.
    struct Socket: Sendable {
        var descriptor: Int32
        var address: HTTPServer.Address
    }

    /// Those that replace `listen`; empty if that counts.
    private(set) var serving: [Socket] = []
    /// Those that replace `admin.listen`; empty if that counts.
    private(set) var admin: [Socket] = []
    /// Those that replace `metrics.listen`; empty if that counts.
    private(set) var metrics: [Socket] = []

    /// Why one can't be used, for the operator.
    struct Failure: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    /// No sockets.
    init() {}

    /// Takes over the sockets that systemd opened; once only, and before the process has other threads of its
    /// own.
    init(from manager: ServiceManager) throws(Failure) {
        let sockets: [ServiceManager.InheritedSocket]
        do throws(ServiceManager.Failure) {
            sockets = try manager.inheritSockets()
        } catch {
            throw Failure(description: "LISTEN_FDS: the sockets can't be taken over: errno \(error.code)")
        }
        try self.init(sockets)
    }

    init(_ sockets: [ServiceManager.InheritedSocket]) throws(Failure) {
        for socket in sockets {
            let taken = Socket(descriptor: socket.descriptor, address: try Self.address(of: socket))
            switch socket.name {
            case "admin": admin.append(taken)
            case "metrics": metrics.append(taken)
            case "public", "unknown",
                _ where socket.name.hasSuffix(".socket"):
                serving.append(taken)
            default:
                throw Failure(
                    description:
                        "LISTEN_FDNAMES: no listener is called \(JSONValue.string(socket.name).compact), "
                        + "FileDescriptorName= is public, admin or metrics")
            }
        }
    }

    private static func address(
        of socket: ServiceManager.InheritedSocket
    ) throws(Failure) -> HTTPServer.Address {
        do throws(SocketError) {
            return try HTTPServer.Address(ofListening: socket.descriptor)
        } catch {
            throw Failure(
                description: "LISTEN_FDS: descriptor \(socket.descriptor) can't be used: \(error); "
                    + "it takes ListenStream= and Accept=no")
        }
    }
}
