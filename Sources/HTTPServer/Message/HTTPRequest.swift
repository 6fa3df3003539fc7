// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A request whose head has been checked. A value: may be retained after the call that received it.
public struct HTTPRequest: Sendable {
    /// The method.
    public internal(set) var method = HTTPMethod.get
    /// Whether the client speaks HTTP/1.0.
    public internal(set) var isHTTP10 = false
    /// The collected content; empty for most requests.
    public internal(set) var body: [UInt8] = []
    /// The other end of the connection, or the client that a trusted proxy named.
    public internal(set) var client = PeerAddress.unix
    /// When the head was complete, CLOCK_MONOTONIC in nanoseconds.
    public internal(set) var receivedAt: UInt64 = 0

    /// The head as received; ranges below index into it.
    private(set) var head = ReusedArray<UInt8>()
    private(set) var targetRange = 0..<0
    /// Whether the target's scheme is `https`.
    private(set) var isOfSecuredScheme = false
    private(set) var lines = ReusedArray<FieldLine>()
    /// The fields that the head has, and those that it has on several lines.
    private(set) var present = KnownFields()
    private(set) var repeated = KnownFields()
    /// The last valid `Host` that was read into this request: most requests repeat the previous one.
    private var validHost = ReusedArray<UInt8>()

    init() {}

    /// Hot path: lends the target's raw bytes: path and query, beginning with `/`, or `*`.
    public func withTarget<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe head.withUnsafeBytes { unsafe try body(UnsafeRawBufferPointer(rebasing: $0[targetRange])) }
    }

    /// The offset of the first byte that no request's target may have; nil if there is none.
    public static func forbiddenByte(inTarget target: [UInt8]) -> Int? {
        target.firstIndex { !OctetSet.target.contains($0) }
    }

    /// The target; allocates.
    public var target: String { String(decoding: head[targetRange], as: UTF8.self) }

    /// Hot path: lends the first value of a field, without surrounding white space; nil without such a line.
    ///
    /// `Host` is the authority of the target if that is in absolute-form (RFC 9112 §3.2.2).
    public func withFirstValue<Result>(
        of name: FieldName, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        if let known = name.known { return unsafe try withFirstValue(ofKnown: known, body) }
        return try unsafe head.withUnsafeBytes { bytes in
            for line in lines where unsafe line.isNamed(name, in: bytes) {
                return unsafe try body(UnsafeRawBufferPointer(rebasing: bytes[line.value]))
            }
            return nil
        }
    }

    /// Hot path: the same for a known field.
    @inline(__always)
    func withFirstValue<Result>(
        ofKnown field: KnownField, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        guard has(known: field), let line = lines.first(where: { $0.known == field }) else { return nil }
        return try unsafe head.withUnsafeBytes { bytes in
            unsafe try body(UnsafeRawBufferPointer(rebasing: bytes[line.value]))
        }
    }

    /// Hot path: lends every value of a field, in order.
    public func withEachValue(
        of name: FieldName, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        guard name.known.map(present.contains) ?? true else { return }
        try unsafe head.withUnsafeBytes { bytes in
            for line in lines where unsafe line.isNamed(name, in: bytes) {
                unsafe try body(UnsafeRawBufferPointer(rebasing: bytes[line.value]))
            }
        }
    }

    /// All values of a field, in order; allocates.
    public func values(of name: FieldName) -> [String] {
        var values: [String] = []
        unsafe withEachValue(of: name) { unsafe values.append(String(decoding: $0, as: UTF8.self)) }
        return values
    }

    /// Hot path: whether there is a line of the field at all.
    public func has(_ name: FieldName) -> Bool {
        if let known = name.known { return has(known: known) }
        return unsafe withFirstValue(of: name) { _ in true } ?? false
    }

    /// Hot path: lends a field's value, its lines joined by commas (RFC 9110 §5.3); nil without such a line.
    public func withCombinedValue<Result>(
        of name: FieldName, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        if let known = name.known, !repeated.contains(known) { return unsafe withFirstValue(of: name, body) }
        var value: [UInt8]?
        unsafe withEachValue(of: name) { line in
            value = unsafe value.map { unsafe $0 + ", ".utf8 + line } ?? Array(line)
        }
        return value.map { unsafe $0.withUnsafeBytes(body) }
    }

    /// Hot path: whether there is a line of a known field.
    @inline(__always)
    func has(known field: KnownField) -> Bool { present.contains(field) }

    /// Whether a known field is on more than one line.
    func repeats(_ field: KnownField) -> Bool { repeated.contains(field) }
}

// MARK: - Filling in place

extension HTTPRequest {
    /// Hot path: starts a new head, whose parts are recorded as they are read.
    mutating func begin(_ method: HTTPMethod, target: Range<Int>, isHTTP10: Bool) {
        self.method = method
        self.isHTTP10 = isHTTP10
        targetRange = target
        lines.removeAll()
        (present, repeated) = (KnownFields(), KnownFields())
        isOfSecuredScheme = false
        if !body.isEmpty { body = [] }
    }

    /// Hot path: reserves capacity for a head's lines; they take no more than those of one head.
    mutating func forgetLines() { lines.removeAll() }

    /// Hot path: records a field line.
    mutating func note(_ line: FieldLine) {
        lines.append(line)
        guard let known = line.known, !present.insert(known) else { return }
        _ = repeated.insert(known)
    }

    /// Hot path: whether the value of its only `Host` line is valid (RFC 9110 §7.2); stores the result.
    mutating func checkHost() -> Bool {
        guard let line = lines.first(where: { $0.known == .host }) else { return false }
        if isValidHost(line) { return true }
        guard HostGrammar.isHost(head.storage.span.extracting(0..<head.count), line.value) else {
            return false
        }
        validHost.removeAll()
        unsafe head.withUnsafeBytes {
            unsafe validHost.append(UnsafeRawBufferPointer(rebasing: $0[line.value]))
        }
        return true
    }

    private func isValidHost(_ line: FieldLine) -> Bool {
        guard line.value.count == validHost.count, validHost.count > 0 else { return false }
        return unsafe head.withUnsafeBytes { head in
            unsafe validHost.withUnsafeBytes { known in
                guard let left = head.baseAddress, let right = known.baseAddress else { return false }
                // Safe because the line lies in the head, and both have `known.count` octets.
                return unsafe memcmp(left + line.value.lowerBound, right, known.count) == 0
            }
        }
    }

    /// Hot path: stores the bytes that the recorded ranges refer to.
    mutating func keep(_ bytes: UnsafeRawBufferPointer) {
        head.removeAll()
        unsafe head.append(bytes)
    }

    /// Replaces `Host` by the authority of an absolute-form target, and the target by its path and query.
    ///
    /// If the URI has no path its authority moves one octet to the left, over a slash of `//`, and `path`
    /// fills the gap: `http://a?b` becomes `http:/a/?b`, whose end is an origin-form target.
    mutating func reduce(authority: Range<Int>, path: UInt8?) {
        var authority = authority
        isOfSecuredScheme = authority.lowerBound - targetRange.lowerBound == "https://".utf8.count
        if let path {
            for index in authority { head[index - 1] = head[index] }
            authority = (authority.lowerBound - 1)..<(authority.upperBound - 1)
            head[authority.upperBound] = path
        }
        targetRange = authority.upperBound..<targetRange.upperBound
        let host = FieldLine(name: 0..<0, value: authority, known: .host)
        if let index = lines.firstIndex(where: { $0.known == .host }) {
            lines[index] = host
        } else {
            note(host)
        }
    }
}
