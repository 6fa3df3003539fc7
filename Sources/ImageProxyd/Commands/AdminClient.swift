// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import HTTPServer
import Primitives

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
