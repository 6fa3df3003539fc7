// SPDX-License-Identifier: Apache-2.0

/// `method SP request-target SP HTTP-version` (RFC 9112 §3), with exactly one space each.
struct RequestLine: Equatable {
    let method: HTTPMethod
    /// The range of the target, in any form.
    let target: Range<Int>
    let form: TargetForm
    let isHTTP10: Bool

    /// The forms of a target that an origin server answers (RFC 9112 §3.2).
    enum TargetForm: Equatable {
        case origin
        case asterisk
        /// A whole URI; `path` replaces its empty path.
        case absolute(authority: Range<Int>, path: UInt8?)
    }

    /// Octets of a line in addition to its target: the longest method, two spaces, the version, CR LF.
    static var overhead: Int { HTTPMethod.longestName + 2 + versionLength + 2 }
    private static var versionLength: Int { 8 }

    /// Hot path: reads a line without its end.
    init(_ octets: Span<UInt8>, _ line: Range<Int>, maxTargetBytes: Int) throws(RequestError) {
        let name = Self.untilSpace(octets, line)
        let targetStart = min(name.upperBound + 1, line.upperBound)
        let targetEnd = octets.targetEnd(targetStart..<line.upperBound)
        let target = targetStart..<targetEnd
        let known = HTTPMethod(octets, name)
        guard known != nil || octets.all(in: .token, name) && !name.isEmpty, !target.isEmpty,
            targetEnd < line.upperBound
        else { throw .malformed }
        guard octets[targetEnd] == Octet.space else { throw .unencodedTarget }
        isHTTP10 = try Self.isVersion10(octets, (targetEnd + 1)..<line.upperBound)
        guard let method = known, method != .connect else { throw .notImplemented }
        guard target.count <= maxTargetBytes else { throw .targetTooLong }
        self.method = method
        self.target = target
        form = try Self.form(octets, target, method)
    }

    /// The error of a line longer than any that can be answered, of which these are the first octets.
    static func lengthError(_ octets: Span<UInt8>, _ line: Range<Int>) -> RequestError {
        let name = untilSpace(octets, line.lowerBound..<min(line.lowerBound + 8, line.upperBound))
        guard octets.all(in: .token, name), !name.isEmpty else { return .malformed }
        return name.count > HTTPMethod.longestName ? .notImplemented : .targetTooLong
    }

    private static func untilSpace(_ octets: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var end = range.lowerBound
        while end < range.upperBound, octets[end] != Octet.space { end += 1 }
        return range.lowerBound..<end
    }

    /// `HTTP/1.0`, or a higher minor version, which is treated as 1.1 (RFC 9110 §2.5).
    private static func isVersion10(_ octets: Span<UInt8>, _ range: Range<Int>) throws(RequestError) -> Bool {
        let start = range.lowerBound
        // Case-sensitive (RFC 9112 §2.3).
        guard range.count == versionLength, octets[start] == UInt8(ascii: "H"),
            octets[start + 1] == UInt8(ascii: "T"), octets[start + 2] == UInt8(ascii: "T"),
            octets[start + 3] == UInt8(ascii: "P"), octets[start + 4] == UInt8(ascii: "/"),
            octets[start + 6] == UInt8(ascii: "."), let major = Octet.digit(octets[start + 5]),
            let minor = Octet.digit(octets[start + 7])
        else {
            // With a version at the end of the line, a space before it is one of the target's.
            let version = max(start, range.upperBound - versionLength)
            let hasVersion = octets.spells("http/", version..<min(version + 5, range.upperBound))
            throw hasVersion && version > start ? .unencodedTarget : .malformed
        }
        guard major == 1 else { throw .versionNotSupported }
        return minor == 0
    }

    private static func form(
        _ octets: Span<UInt8>, _ target: Range<Int>, _ method: HTTPMethod
    ) throws(RequestError) -> TargetForm {
        let first = octets[target.lowerBound]
        if first == UInt8(ascii: "/") { return .origin }
        if first == UInt8(ascii: "*"), target.count == 1, method == .options { return .asterisk }
        return try absoluteForm(octets, target, method)
    }

    /// `http` or `https` in any case, an authority, and what follows it.
    private static func absoluteForm(
        _ octets: Span<UInt8>, _ target: Range<Int>, _ method: HTTPMethod
    ) throws(RequestError) -> TargetForm {
        let start: Int
        if target.count > 7, octets.spells("http://", target.lowerBound..<(target.lowerBound + 7)) {
            start = target.lowerBound + 7
        } else if target.count > 8, octets.spells("https://", target.lowerBound..<(target.lowerBound + 8)) {
            start = target.lowerBound + 8
        } else {
            throw .malformed
        }
        var end = start
        while end < target.upperBound, octets[end] != UInt8(ascii: "/"), octets[end] != UInt8(ascii: "?") {
            end += 1
        }
        guard HostGrammar.isHost(octets, start..<end) else { throw .malformed }
        if end < target.upperBound, octets[end] == UInt8(ascii: "/") {
            return .absolute(authority: start..<end, path: nil)
        }
        // OPTIONS for a URI without path and query concerns the server (RFC 9112 §3.2.4).
        let isForServer = method == .options && end == target.upperBound
        return .absolute(
            authority: start..<end, path: isForServer ? UInt8(ascii: "*") : UInt8(ascii: "/"))
    }
}
