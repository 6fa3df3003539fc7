// SPDX-License-Identifier: Apache-2.0

/// Why a request can't be read; decides the answer, after which the connection ends.
public enum RequestError: UInt16, Error, Sendable, Hashable, CaseIterable {
    /// Ambiguous or malformed (RFC 9112 §2.2, §3, §5).
    case malformed = 400
    /// The content is longer than allowed.
    case bodyTooLarge = 413
    /// The target is longer than allowed.
    case targetTooLong = 414
    /// An expectation other than `100-continue`.
    case unknownExpectation = 417
    /// The head is longer than allowed.
    case headTooLarge = 431
    /// An unknown method or transfer coding.
    case notImplemented = 501
    /// A version that is not 1.x.
    case versionNotSupported = 505
}

/// How a request's content is delimited (RFC 9112 §6.3).
enum BodyFraming: Equatable {
    case none
    case length(Int)
    case chunked
}

/// What a head says of its connection.
struct RequestFraming: Equatable {
    var body = BodyFraming.none
    var keepsAlive = true
    var expectsContinue = false
}

/// Reads request heads strictly: what two readers could read differently is refused. Pure; keeps no bytes.
struct RequestParser {
    let maxHeadBytes: Int
    let maxTargetBytes: Int
    /// How far the bytes of the present head have been scanned for its end.
    private var scanned = 0
    private var firstLineEnd: Int?

    enum Outcome: Equatable {
        case needsMore
        /// A whole head; the next byte lies at `length`.
        case head(length: Int, RequestFraming)
        case failed(RequestError)
    }

    init(maxHeadBytes: Int, maxTargetBytes: Int) {
        self.maxHeadBytes = maxHeadBytes
        self.maxTargetBytes = maxTargetBytes
    }

    /// Looks at all bytes received since the last head; gives the same outcome however they were split.
    mutating func parse(_ bytes: UnsafeRawBufferPointer, into request: inout HTTPRequest) -> Outcome {
        switch unsafe scan(bytes) {
        case .needsMore: return .needsMore
        case .failed(let error): return .failed(error)
        case .head(let length, _):
            scanned = 0
            firstLineEnd = nil
            return unsafe HeadReader.read(UnsafeRawBufferPointer(rebasing: bytes[..<length]), into: &request)
        }
    }
}

extension RequestParser {
    /// Finds the head's end: the first empty line. Every line ends with CR LF; anything else is refused where it stands.
    private mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        while scanned < bytes.count {
            let byte = unsafe bytes[scanned]
            let previous = scanned == 0 ? 0 : unsafe bytes[scanned - 1]
            if previous == UInt8(ascii: "\r"), byte != UInt8(ascii: "\n") { return .failed(.malformed) }
            if byte == 0 || (byte == UInt8(ascii: "\n") && previous != UInt8(ascii: "\r")) {
                return .failed(.malformed)
            }
            scanned += 1
            if byte == UInt8(ascii: "\n") {
                // An empty line: CR LF right behind a line's end.
                if scanned > 2, unsafe bytes[scanned - 3] == UInt8(ascii: "\n") {
                    return .head(length: scanned, RequestFraming())
                }
                if firstLineEnd == nil { firstLineEnd = scanned }
            } else if firstLineEnd == nil, scanned > maxTargetBytes + Self.requestLineOverhead {
                return .failed(.targetTooLong)
            }
            if scanned >= maxHeadBytes { return .failed(.headTooLarge) }
        }
        return .needsMore
    }

    /// Bytes of a request line beside its target: the longest method, the version, two spaces, CR LF.
    private static let requestLineOverhead = 24
}

/// Checks a whole head and notes where its parts lie.
enum HeadReader {
    static func read(
        _ bytes: UnsafeRawBufferPointer, into request: inout HTTPRequest
    ) -> RequestParser.Outcome {
        request.head.removeAll(keepingCapacity: true)
        unsafe request.head.append(contentsOf: bytes)
        request.lines.removeAll(keepingCapacity: true)
        do throws(RequestError) {
            var position = try unsafe requestLine(bytes, &request)
            while unsafe bytes[position] != UInt8(ascii: "\r") {
                position = try unsafe fieldLine(bytes, from: position, &request)
            }
            return .head(length: bytes.count, try framing(of: request))
        } catch {
            return .failed(error)
        }
    }

    /// `method SP target SP HTTP/1.x CRLF` with exactly one space each (RFC 9112 §3).
    private static func requestLine(
        _ bytes: UnsafeRawBufferPointer, _ request: inout HTTPRequest
    ) throws(RequestError) -> Int {
        guard let end = unsafe bytes.firstIndex(of: UInt8(ascii: "\r")),
            let firstSpace = unsafe bytes[..<end].firstIndex(of: UInt8(ascii: " ")),
            let lastSpace = unsafe bytes[..<end].lastIndex(of: UInt8(ascii: " ")), lastSpace > firstSpace + 1
        else { throw .malformed }
        try unsafe version(UnsafeRawBufferPointer(rebasing: bytes[(lastSpace + 1)..<end]), &request)
        let name = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<firstSpace])
        guard unsafe !name.isEmpty && name.allSatisfy(FieldName.isTokenByte) else { throw .malformed }
        guard let method = unsafe HTTPMethod(name) else { throw .notImplemented }
        request.method = method
        request.targetRange = try unsafe target(bytes, (firstSpace + 1)..<lastSpace, method)
        return end + 2
    }

    private static func version(
        _ bytes: UnsafeRawBufferPointer, _ request: inout HTTPRequest
    ) throws(RequestError) {
        guard unsafe bytes.count == 8 && bytes.starts(with: "HTTP/".utf8) && bytes[6] == UInt8(ascii: ".")
        else {
            throw .malformed
        }
        let (major, minor) = unsafe (bytes[5], bytes[7])
        guard (0x30...0x39).contains(major), (0x30...0x39).contains(minor) else { throw .malformed }
        guard major == UInt8(ascii: "1") else { throw .versionNotSupported }
        request.isHTTP10 = minor == UInt8(ascii: "0")
    }

    /// The range of path and query: origin-form as it is, absolute-form without scheme and authority, `*` for OPTIONS.
    private static func target(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ method: HTTPMethod
    ) throws(RequestError) -> Range<Int> {
        let target = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
        guard unsafe target.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw .malformed
        }
        if unsafe target[0] == UInt8(ascii: "/") { return range }
        if unsafe target.count == 1 && target[0] == UInt8(ascii: "*") && method == .options { return range }
        let scheme =
            unsafe target.starts(with: "http://".utf8) ? 7 : target.starts(with: "https://".utf8) ? 8 : 0
        guard scheme > 0, let slash = unsafe target[scheme...].firstIndex(of: UInt8(ascii: "/")),
            slash > scheme
        else {
            throw .malformed
        }
        return (range.lowerBound + slash)..<range.upperBound
    }

    /// `name: value CRLF`; no space before the colon, no line folding (RFC 9112 §5).
    private static func fieldLine(
        _ bytes: UnsafeRawBufferPointer, from start: Int, _ request: inout HTTPRequest
    ) throws(RequestError) -> Int {
        guard let end = unsafe bytes[start...].firstIndex(of: UInt8(ascii: "\r")),
            let colon = unsafe bytes[start..<end].firstIndex(of: UInt8(ascii: ":")), colon > start,
            unsafe bytes[start..<colon].allSatisfy(FieldName.isTokenByte)
        else { throw .malformed }
        var value = (colon + 1)..<end
        while let first = value.first, unsafe isSpace(bytes[first]) { value = value.dropFirst() }
        while let last = value.last, unsafe isSpace(bytes[last]) { value = value.dropLast() }
        guard unsafe bytes[value].allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .malformed
        }
        request.lines.append(HTTPRequest.FieldRange(name: start..<colon, value: value))
        return end + 2
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    // MARK: - Framing (RFC 9112 §6, §9.3)

    private static func framing(of request: HTTPRequest) throws(RequestError) -> RequestFraming {
        let hosts = count(of: .host, in: request)
        guard hosts == 1 || (hosts == 0 && request.isHTTP10) else { throw .malformed }
        var framing = RequestFraming(keepsAlive: !request.isHTTP10)
        framing.body = try body(of: request)
        try readConnection(request, &framing)
        try readExpectation(request, &framing)
        return framing
    }

    private static func count(of name: FieldName, in request: HTTPRequest) -> Int {
        var count = 0
        unsafe request.head.withUnsafeBytes { bytes in
            for line in request.lines
            where unsafe name.matches(UnsafeRawBufferPointer(rebasing: bytes[line.name])) {
                count += 1
            }
        }
        return count
    }

    private static func body(of request: HTTPRequest) throws(RequestError) -> BodyFraming {
        let codings = count(of: .transferEncoding, in: request)
        let lengths = count(of: .contentLength, in: request)
        if codings > 0 {
            guard codings == 1, lengths == 0, !request.isHTTP10 else { throw .malformed }
            guard request.values(of: .transferEncoding)[0].lowercased() == "chunked" else {
                throw .notImplemented
            }
            return .chunked
        }
        guard lengths > 0 else { return .none }
        let digits = Array(request.values(of: .contentLength)[0].utf8)
        guard lengths == 1, !digits.isEmpty, digits.count <= 18,
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            throw .malformed
        }
        let length = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return length == 0 ? .none : .length(length)
    }

    private static func readConnection(
        _ request: HTTPRequest, _ framing: inout RequestFraming
    ) throws(RequestError) {
        guard count(of: .connection, in: request) > 0 else { return }
        let options = request.values(of: .connection).flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        if options.contains("close") {
            framing.keepsAlive = false
        } else if options.contains("keep-alive") {
            framing.keepsAlive = true
        }
    }

    private static func readExpectation(
        _ request: HTTPRequest, _ framing: inout RequestFraming
    ) throws(RequestError) {
        guard count(of: .expect, in: request) > 0, !request.isHTTP10 else { return }
        guard request.values(of: .expect).map({ $0.lowercased() }) == ["100-continue"] else {
            throw .unknownExpectation
        }
        framing.expectsContinue = framing.body != .none
    }
}
