// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// An unconfigured daemon never becomes anybody's open proxy by being made reachable.
enum OpenProxyCheck {
    /// - Throws: why these settings must not serve there.
    static func refuse(
        _ configuration: ProxyConfiguration, listeningOn addresses: [HTTPServer.Address]
    ) throws(Daemon.StartError) {
        guard configuration.security.sources.isEmpty, !configuration.security.openProxy,
            !configuration.security.requiresSignatures,
            let address = addresses.first(where: { !$0.isLocal })
        else { return }
        throw Daemon.StartError(
            description: """
                listening on \(address) would serve any source to anybody: name the allowed sources in \
                security.sources, demand signatures by security.keys, or set security.openProxy to true
                """)
    }
}
