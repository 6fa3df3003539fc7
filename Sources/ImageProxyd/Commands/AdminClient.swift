// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import HTTPServer
import Primitives

/// A daemon, as its admin listener is reached.
struct AdminClient: Sendable {
    /// The addresses that the settings mean, the likeliest first.
    let addresses: [HTTPServer.Address]
    let token: [UInt8]?

    /// Sends a request to the first address that answers, and reads the head of the answer, whatever its status is.
    func connect(
        _ method: String, _ target: String, _ content: [UInt8] = []
    ) throws(AdminConnection.Failure) -> AdminConnection {
        var failure = AdminConnection.Failure.unexpectedAnswer
        for address in addresses {
            do throws(AdminConnection.Failure) {
                return try AdminConnection.request(method, target, content, at: address, token: token)
            } catch {
                if case .unreachable = error, case .unreachable = failure { continue }
                failure = error
                guard case .unreachable = error else { break }
            }
        }
        throw failure
    }

    /// The same for an answer with status 200.
    func stream(
        _ target: String, method: String = "GET"
    ) throws(AdminConnection.Failure) -> AdminConnection {
        let connection = try connect(method, target)
        guard connection.status == 200 else {
            let status = connection.status
            throw .refused(status, try connection.answer().problem)
        }
        return connection
    }

    /// The JSON that is answered to a request with 200; on a failure says why, and ends the command with 1.
    func json(
        _ path: String, _ parameters: [(name: String, value: String?)] = [], method: String = "GET"
    ) throws -> JSONValue {
        let query = parameters.compactMap { parameter in
            parameter.value.map { "\(parameter.name)=\($0.asQueryValue)" }
        }
        let target = path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        do throws(AdminConnection.Failure) {
            let content = try stream(target, method: method).answer().content
            guard content != .null else { throw .unexpectedAnswer }
            return content
        } catch {
            throw HostProcess.reported("\(error)")
        }
    }
}
