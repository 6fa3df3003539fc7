// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

extension OriginHead {
    /// The declared length of the body as it will be delivered.
    ///
    /// nil with a content coding, without a declared length, or with two different ones (RFC 9112 §6.3).
    static func contentLength(in fields: [HeaderField]) -> Int? {
        let isCoded = fields.contains { field in
            field.name == "transfer-encoding"
                || field.name == "content-encoding" && field.value.lowercased() != "identity"
        }
        let declared = fields.lazy.filter { $0.name == "content-length" }.map(\.value)
        guard !isCoded, let value = declared.first, declared.allSatisfy({ $0 == value }) else { return nil }
        return isLength(value) ? Int(value) : nil
    }

    /// Whether lengths contradict each other or are malformed, so that the body's end is unknown (RFC 9112
    /// §6.3).
    static func contradictsItself(_ fields: [HeaderField]) -> Bool {
        guard !fields.contains(where: { $0.name == "transfer-encoding" }) else { return false }
        let lengths = fields.lazy.filter { $0.name == "content-length" }.map(\.value)
        guard let first = lengths.first else { return false }
        return !isLength(first) || !lengths.allSatisfy { $0 == first }
    }

    /// Whether the body's end is declared, rather than marked by its connection's end (RFC 9112 §6.3).
    static func isDelimited(_ fields: [HeaderField]) -> Bool {
        fields.contains { $0.name == "content-length" || $0.name == "transfer-encoding" }
    }

    private static func isLength(_ value: String) -> Bool {
        value.utf8.allSatisfy(\.isASCIIDigit) && Int(value) != nil
    }

    /// `Retry-After` in seconds from the response's arrival, given in seconds or as a date (RFC 9110
    /// §10.2.3).
    var retryAfter: Int? {
        guard let value = values(of: "retry-after").first else { return nil }
        if let seconds = CacheControl.seconds(value) { return Int(seconds) }
        return HTTPDate(value, now: responseTime.seconds).map {
            Int(max(0, $0.seconds - responseTime.seconds))
        }
    }
}
