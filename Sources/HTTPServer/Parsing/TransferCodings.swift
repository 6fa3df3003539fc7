// SPDX-License-Identifier: Apache-2.0

/// The members of a request's `Transfer-Encoding` lines, in order (RFC 9112 §6.1, §6.3, §7).
///
/// Only `chunked` is accepted. Stricter than other lists: an empty member is refused, since recipients
/// interpret it differently.
struct TransferCodings {
    private var isChunked = false
    /// Whether there is a coding besides `chunked`, and whether it is unregistered.
    private var hasOther = false
    private var hasUnknown = false

    /// Adds a line's members.
    mutating func add(_ octets: Span<UInt8>, _ value: Range<Int>) throws(RequestError) {
        var start = value.lowerBound
        for index in start...value.upperBound
        where index == value.upperBound || octets[index] == UInt8(ascii: ",") {
            try addMember(octets, octets.trimmed(start..<index))
            start = index + 1
        }
    }

    /// Checks what has been added.
    ///
    /// Without a final `chunked` the end of the content is unknown: 400 (RFC 9112 §6.3). An unknown coding is
    /// 501 (RFC 9112 §6.1), which takes precedence for one without a registered name.
    func finish() throws(RequestError) {
        guard !hasUnknown else { throw .notImplemented }
        guard isChunked else { throw .malformed }
        guard !hasOther else { throw .notImplemented }
    }

    private mutating func addMember(_ octets: Span<UInt8>, _ member: Range<Int>) throws(RequestError) {
        // `chunked` must be the last member, and occur once.
        guard !isChunked else { throw .malformed }
        let name = octets.trimmed(member.lowerBound..<Self.nameEnd(octets, member))
        guard !name.isEmpty, octets.all(in: .token, name) else { throw .malformed }
        if octets.spells("chunked", name) {
            // It has no parameters (RFC 9112 §7.1).
            guard name == member else { throw .malformed }
            isChunked = true
        } else {
            hasOther = true
            hasUnknown = hasUnknown || !Self.isRegistered(octets, name)
        }
    }

    private static func nameEnd(_ octets: Span<UInt8>, _ member: Range<Int>) -> Int {
        var end = member.lowerBound
        while end < member.upperBound, octets[end] != UInt8(ascii: ";") { end += 1 }
        return end
    }

    private static func isRegistered(_ octets: Span<UInt8>, _ name: Range<Int>) -> Bool {
        octets.spells("gzip", name) || octets.spells("x-gzip", name) || octets.spells("deflate", name)
            || octets.spells("compress", name) || octets.spells("x-compress", name)
    }
}
