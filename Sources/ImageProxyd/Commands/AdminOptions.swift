// SPDX-License-Identifier: Apache-2.0

import Answering
import ArgumentParser
import Cache
internal import HTTPServer
import Primitives

/// The options of every command that asks a running daemon.
struct AdminOptions: ParsableArguments {
    @Option(
        help: "The address of the admin listener, such as 127.0.0.1:8081 or unix:/path; else admin.listen.")
    var admin: String?

    @Option(help: "A file with the admin token; else admin.token.", completion: .file())
    var token: String?

    @OptionGroup var settings: SettingsOptions

    /// The daemon that the options mean.
    func client() throws -> AdminClient {
        let token = try token.map { path in
            try SettingsOptions.complaining { try NamedFiles.token(at: path) }
        }
        if let admin { return AdminClient(addresses: [try Self.address(admin)], token: token) }
        let (configuration, files, _) = try settings.loadAll(skipsCredentials: true)
        let endpoints = try AdminEndpoint.endpoints(
            configuration.admin.listen,
            cacheDirectory: CacheDirectory.path(configured: configuration.cache.disk.directory))
        let addresses = endpoints.flatMap { endpoint in
            switch endpoint {
            case .configured(let address): [address]
            case .automatic(let addresses): addresses
            }
        }
        guard !addresses.isEmpty else {
            throw ValidationError("admin.listen is empty: the daemon has no such listener")
        }
        return AdminClient(addresses: addresses, token: token ?? files.adminToken)
    }

    private static func address(_ text: String) throws -> HTTPServer.Address {
        do {
            return try HTTPServer.Address(parsing: text)
        } catch {
            throw ValidationError("'\(text)' is no address: 127.0.0.1:8081, [::1]:8081 or unix:/path")
        }
    }
}
