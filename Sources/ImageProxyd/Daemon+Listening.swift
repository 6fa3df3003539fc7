// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPServer
internal import Logging

/// Binds the listeners: for clients, for operators and for metrics.
extension Daemon {
    func startServer(_ sockets: [InheritedSockets.Socket]) throws {
        try adopt(sockets, by: server, "listening on")
        if sockets.isEmpty {
            for address in try configuration.listen.map({ try HTTPServer.Address(parsing: $0) }) {
                let bound = try listen(on: address)
                logger.notice("listening on \(bound)")
                // A socket in the file system is no place that a browser goes to.
                if case .unix = address { continue }
                // At / where no other proxy's URLs begin there.
                let path = configuration.dialects.contains { $0.prefix == "/" } ? "playground" : ""
                if configuration.playground { logger.notice("playground: http://\(bound)/\(path)") }
            }
        }
        try server.start()
    }

    private func adopt(_ sockets: [InheritedSockets.Socket], by server: HTTPServer, _ what: String) throws {
        for socket in sockets {
            do throws(SocketError) {
                let address = try server.adopt(socket: socket.descriptor)
                logger.notice("\(what) \(address), opened by systemd")
            } catch {
                throw StartError(
                    description: "can't listen on \(socket.address), opened by systemd: \(error)")
            }
        }
    }

    func startAdmin(_ sockets: [InheritedSockets.Socket]) throws {
        try adopt(sockets, by: admin, "admin on")
        for endpoint in adminEndpoints where sockets.isEmpty {
            switch endpoint {
            case .configured(let address): try startAdmin(on: address)
            case .automatic(let candidates): startAdmin(onFirstOf: candidates)
            }
        }
        try admin.start()
    }

    /// Listens on `metrics.listen`, or on what systemd opened for it.
    func startMetrics(_ sockets: [InheritedSockets.Socket]) throws {
        guard let metricsServer else { return }
        try adopt(sockets, by: metricsServer, "metrics on")
        for text in configuration.metrics.listen where sockets.isEmpty {
            let bound = try listen(on: HTTPServer.Address(parsing: text), metricsServer)
            logger.notice("metrics on \(bound)")
        }
        try metricsServer.start()
    }

    private func startAdmin(on address: HTTPServer.Address) throws {
        let bound = try listen(on: address, admin)
        logger.notice("admin on \(bound)")
        adminSockets.note(address)
        // The folder belongs to the daemon's user alone already; this applies if it does not.
        if case .unix(let path) = address { unsafe chmod(path, S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) }
    }

    /// No address was configured: if none can be used, for example on a read-only file system, the daemon
    /// serves without it.
    private func startAdmin(onFirstOf candidates: [HTTPServer.Address]) {
        for address in candidates {
            do {
                return try startAdmin(on: address)
            } catch {
                logger.warning("admin: \(error)")
            }
        }
        logger.warning("no admin listener: no folder for its socket can be used; set admin.listen")
    }

    private func listen(on address: HTTPServer.Address, _ server: HTTPServer? = nil) throws -> String {
        do {
            return try (server ?? self.server).listen(on: [address]).map(\.description).joined()
        } catch {
            var advice = ""
            if error.code == EADDRINUSE {
                let option =
                    server == nil ? "--listen" : server === metricsServer ? "metrics.listen" : "admin.listen"
                advice = "; end the program that has it (see ss -ltnp), or choose another with \(option)"
            }
            throw StartError(description: "can't listen on \(address): \(error)\(advice)")
        }
    }
}
