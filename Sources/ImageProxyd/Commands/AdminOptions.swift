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

/// A daemon, as its admin listener is reached.
struct AdminClient: Sendable {
    /// The addresses that the settings mean, the likeliest first.
    let addresses: [HTTPServer.Address]
    let token: [UInt8]?

    /// Sends a request to the first address that answers, and reads the head of the answer, which must be 200.
    func open(
        _ target: String, method: String = "GET"
    ) throws(AdminConnection.Failure) -> AdminConnection {
        try atFirst { address throws(AdminConnection.Failure) in
            try AdminConnection.open(method, target, at: address, token: token)
        }
    }

    /// The same whatever the answer's status is.
    func connect(
        _ method: String = "GET", _ target: String, _ content: [UInt8] = []
    ) throws(AdminConnection.Failure) -> AdminConnection {
        try atFirst { address throws(AdminConnection.Failure) in
            try AdminConnection.request(method, target, content, at: address, token: token)
        }
    }

    private func atFirst(
        _ connect: (HTTPServer.Address) throws(AdminConnection.Failure) -> AdminConnection
    ) throws(AdminConnection.Failure) -> AdminConnection {
        var failure = AdminConnection.Failure.unexpectedAnswer
        for address in addresses {
            do throws(AdminConnection.Failure) {
                return try connect(address)
            } catch {
                if case .unreachable = error, case .unreachable = failure { continue }
                failure = error
                guard case .unreachable = error else { break }
            }
        }
        throw failure
    }

    /// The JSON that is answered to a request; on a failure says why, and ends the command with 1.
    func json(_ target: String, method: String = "GET") throws -> JSONValue {
        do throws(AdminConnection.Failure) {
            var connection = try open(target, method: method)
            var parser = JSONParser(try connection.body())
            // Lost: what is wrong with it; the daemon writes JSON.
            guard let json = try? parser.parse() else { throw .unexpectedAnswer }
            return json
        } catch {
            HostProcess.reportError("\(error)")
            throw ExitCode.failure
        }
    }

    /// A target of the admin listener.
    static func target(_ path: String, _ parameters: [(name: String, value: String?)]) -> String {
        let query = parameters.compactMap { parameter in
            parameter.value.map { "\(parameter.name)=\($0.asQueryValue)" }
        }
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }
}
