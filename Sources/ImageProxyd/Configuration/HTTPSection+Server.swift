// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import Primitives
import URLs

extension HTTPSection {
    /// The server's own settings; `cores` replaces 0 loops.
    func serverConfiguration(cores: Int) -> HTTPServer.Configuration {
        var server = HTTPServer.Configuration()
        server.loops = loops == 0 ? cores : loops
        server.maxConnections = maxConnections
        server.headerTimeout = headerTimeout.duration
        server.idleTimeout = idleTimeout.duration
        server.bodyTimeout = bodyTimeout.duration
        server.writeTimeout = writeTimeout.duration
        server.minSendRate = minSendRate.bytes
        server.requestTimeout = requestTimeout.duration
        server.drainGrace = drainGrace.duration
        server.limits.headBytes = maxHeaderBytes.bytes
        server.limits.targetBytes = maxTargetBytes.bytes
        server.limits.contentBytes = maxBodyBytes.bytes
        server.limits.fieldLines = maxFieldLines
        let proxies = trustedProxies.compactMap { Network($0) }
        server.isTrustedProxy = { peer in
            switch peer {
            case .unix: !proxies.isEmpty
            case .v4(let bits): proxies.contains { $0.contains(IPAddress(v4: bits)) }
            case .v6(let high, let low): proxies.contains { $0.contains(IPAddress(v6: high, low)) }
            }
        }
        return server
    }
}
