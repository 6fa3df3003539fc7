// SPDX-License-Identifier: Apache-2.0

/// A field line of a request to an origin, or of its response.
public struct HeaderField: Sendable, Hashable, Codable {
    /// The field's name.
    public var name: String
    /// The field's value.
    public var value: String

    /// Pairs a name with a value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The head of an origin's final response.
public struct OriginHead: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// All field lines in order, names in lower case, values without surrounding white space.
    public var fields: [HeaderField]
    /// The declared length of the body; nil with a content coding.
    public var contentLength: Int?
    /// When the request was sent, in seconds since 1970 (RFC 9111 §4.2.3, request_time).
    public var requestTime: Int64
    /// When the head was complete, in seconds since 1970 (response_time).
    public var responseTime: Int64
    /// Whole seconds between the two by a clock that is never set (response_delay); nil where the two alone are known.
    ///
    /// Their difference is a second more where one ends on the way.
    public var delay: Int64?

    /// Creates a head from its parts.
    public init(
        status: Int, fields: [HeaderField], contentLength: Int?, requestTime: Int64,
        responseTime: Int64, delay: Int64? = nil
    ) {
        self.delay = delay
        self.status = status
        self.fields = fields
        self.contentLength = contentLength
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// Returns all values of a field, in order; `name` in lower case.
    public func values(of name: String) -> [String] {
        var values: [String] = []
        for field in fields where field.name == name { values.append(field.value) }
        return values
    }
}
