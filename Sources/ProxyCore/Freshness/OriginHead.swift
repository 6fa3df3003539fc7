// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// A field line of a request to an origin, or of its response.
package struct HeaderField: Sendable, Hashable, Codable {
    /// The field's name.
    package var name: String
    /// The field's value.
    package var value: String

    /// Pairs a name with a value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The head of an origin's final response.
package struct OriginHead: Sendable, Hashable {
    /// The status code.
    package var status: Int
    /// All field lines in order, names in lower case, values without surrounding white space.
    package var fields: [HeaderField]
    /// The declared length of the body; nil with a content coding.
    package var contentLength: Int?
    /// When the request was sent (RFC 9111 §4.2.3, request_time).
    package var requestTime: WallTime
    /// When the head was complete (response_time).
    package var responseTime: WallTime
    /// The time between the two by a clock that is never set (response_delay); nil where the two alone are known.
    package var delay: TimeSpan?

    package init(
        status: Int, fields: [HeaderField], contentLength: Int?, requestTime: WallTime,
        responseTime: WallTime, delay: TimeSpan? = nil
    ) {
        self.delay = delay
        self.status = status
        self.fields = fields
        self.contentLength = contentLength
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// Returns all values of a field, in order; `name` in lower case.
    package func values(of name: String) -> [String] {
        var values: [String] = []
        for field in fields where field.name == name { values.append(field.value) }
        return values
    }
}
