// SPDX-License-Identifier: Apache-2.0

/// A request as a `FakeOrigin` received it.
public struct OriginHTTPRequest: Sendable, Equatable {
    /// The method.
    public let method: String
    /// The target as sent: path and query.
    public let target: String
    /// Names in lower case, with their values, in order.
    public let fields: [Field]
    /// Which connection it came over, counted from 1.
    public let connection: Int
    /// The content, as long as `Content-Length` says.
    public internal(set) var content: [UInt8] = []

    /// A field line.
    public struct Field: Sendable, Equatable {
        public let name: String
        public let value: String
    }

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The first value of a field; `name` in lower case.
    public subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// Parses a head; nil if it is invalid.
    init?(head: [UInt8], connection: Int) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        method = String(words[0])
        target = String(words[1])
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return Field(name: line[..<colon].lowercased(), value: String(value))
        }
        self.connection = connection
    }
}
