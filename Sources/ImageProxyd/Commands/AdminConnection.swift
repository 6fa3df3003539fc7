// SPDX-License-Identifier: Apache-2.0

import Answering
import CLinux
import Glibc
internal import HTTPServer
import Primitives

/// A blocking connection of a command to the admin listener, for one answer that is read line by line, or as a whole.
///
/// Speaks HTTP/1.0, whose answers end with the connection.
struct AdminConnection: ~Copyable {
    /// Why there is no answer.
    enum Failure: Error, CustomStringConvertible {
        /// No daemon listens there.
        case unreachable(HTTPServer.Address, CInt)
        /// The connection broke.
        case broken(CInt)
        /// The answer has this status; what its problem document says.
        case refused(Int, String?)
        /// The answer is not one of an imageproxyd: it is not HTTP, is too long, or is not JSON.
        case unexpectedAnswer

        var description: String {
            switch self {
            case .unreachable(let address, let code):
                "no daemon answers at \(address): \(systemErrorText(code)); --config FILE or --admin ADDRESS names another one"
            case .broken(let code): "the connection to the daemon broke: \(systemErrorText(code))"
            case .refused(401, _): "the daemon requires its admin token: --token FILE"
            case .refused(404, _): "what answers there is no admin listener, or one of an older version"
            case .refused(let status, nil): "the daemon answered with status \(status)"
            case .refused(_, let text?): text
            case .unexpectedAnswer: "what answers there is no imageproxyd"
            }
        }

        /// Whether it may be otherwise in a moment.
        var isTransient: Bool {
            switch self {
            case .unreachable, .broken, .refused(503, _): true
            case .refused, .unexpectedAnswer: false
            }
        }
    }

    private let descriptor: CInt
    /// The status of the answer.
    private(set) var status = 0
    private var unread: [UInt8] = []
    /// The maximum length of a line, in bytes: far beyond what the daemon sends.
    private static let maxLineBytes = 1 << 20
    /// The maximum length of an answer that is read as a whole, in bytes.
    private static let maxBodyBytes = 256 << 20

    private init(to address: HTTPServer.Address) throws(Failure) {
        do throws(SocketError) {
            descriptor = try address.connected()
        } catch {
            throw .unreachable(address, error.code)
        }
    }

    deinit { close(descriptor) }

    /// Connects, sends a request, and reads the head of the answer, whatever its status is.
    /// - Parameter token: the admin token; nil sends none.
    static func request(
        _ method: String, _ target: String, _ content: [UInt8], at address: HTTPServer.Address,
        token: [UInt8]?
    ) throws(Failure) -> AdminConnection {
        var connection = try AdminConnection(to: address)
        let host = if case .tcp = address { "\(address)" } else { "localhost" }
        let authorization = token.map { Array("Authorization: Bearer ".utf8) + $0 + Array("\r\n".utf8) } ?? []
        let length = content.isEmpty && method != "POST" ? "" : "Content-Length: \(content.count)\r\n"
        let head = Array("\(method) \(target) HTTP/1.0\r\nHost: \(host)\r\n\(length)".utf8) + authorization
        try connection.send(head + Array("\r\n".utf8) + content)
        let parts = try connection.line()?.split(separator: " ")
        guard let parts, parts.count > 1, parts[0].hasPrefix("HTTP/1."), let status = Int(parts[1]) else {
            throw .unexpectedAnswer
        }
        connection.status = status
        while let line = try connection.line(), !line.isEmpty {}
        return connection
    }

    /// A whole answer.
    struct Answer {
        let status: Int
        /// The content; null where it is no JSON.
        let content: JSONValue

        /// What a problem document says; nil where the content is none.
        var problem: String? {
            guard case .string(let title)? = content["title"] else { return nil }
            guard case .string(let detail)? = content["detail"] else { return title }
            guard case .string(let parameter)? = content["parameter"] else { return "\(title): \(detail)" }
            return "\(title): \(parameter): \(detail)"
        }
    }

    /// Reads the rest of the answer.
    consuming func answer() throws(Failure) -> Answer {
        while try receive() {
            guard unread.count <= Self.maxBodyBytes else { throw .unexpectedAnswer }
        }
        var parser = JSONParser(unread, notesPositions: false)
        // Ignored: what is wrong with it; the daemon writes JSON.
        return Answer(status: status, content: (try? parser.parse()) ?? .null)
    }

    private func send(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                retryingOnInterrupt {
                    unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
                }
            }
            guard count >= 0 else { throw .broken(errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// The next line without its end; nil at the end of the answer.
    mutating func line() throws(Failure) -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                var line = unread[..<end]
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                defer { unread.removeFirst(end + 1) }
                return String(decoding: line, as: UTF8.self)
            }
            guard unread.count <= Self.maxLineBytes else { throw .unexpectedAnswer }
            guard try receive() else { return nil }
        }
    }

    /// Whether there was something to read.
    private mutating func receive() throws(Failure) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            retryingOnInterrupt { unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0) }
        }
        guard count >= 0 else { throw .broken(errno) }
        unread += buffer.prefix(count)
        return count != 0
    }

    /// The data of the next event of this name (WHATWG HTML, "Server-sent events"); nil at the end.
    mutating func event(named name: String) throws(Failure) -> String? {
        var (isWanted, data) = (false, [Substring]())
        while let line = try line() {
            if line.isEmpty {
                if isWanted, !data.isEmpty { return data.joined(separator: "\n") }
                (isWanted, data) = (false, [])
            } else if line.hasPrefix("event: ") {
                isWanted = line.dropFirst(7) == name
            } else if line.hasPrefix("data: ") {
                data.append(line.dropFirst(6))
            }
        }
        return nil
    }
}
