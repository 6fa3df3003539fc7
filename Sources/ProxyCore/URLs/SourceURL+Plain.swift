// SPDX-License-Identifier: Apache-2.0

extension SourceURL {
    /// Hot path: parses a URL that is certainly in its normal form, as most are; nil for any that may need
    /// libcurl.
    ///
    /// `http` or `https`, a name in lower case or four decimal numbers, a port that is not the default, a
    /// path without escapes and without segments that begin with a full stop: libcurl changes nothing in
    /// these.
    init?(plain text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maxBytes, let scheme = PlainURL.scheme(of: bytes) else { return nil }
        let start = scheme.utf8.count + 3
        guard let hostEnd = PlainURL.endOfHost(in: bytes, from: start),
            let (port, pathStart) = PlainURL.port(in: bytes, from: hostEnd),
            port != SourceURLSyntax.defaultPort(of: scheme),
            let pathEnd = PlainURL.endOfPath(in: bytes, from: pathStart)
        else { return nil }
        let host = String(decoding: bytes[start..<hostEnd], as: UTF8.self)
        self.init(
            normalized: text,
            origin: Origin(
                scheme: scheme, host: host, port: port ?? SourceURLSyntax.defaultPort(of: scheme) ?? 0),
            path: String(decoding: bytes[pathStart..<pathEnd], as: UTF8.self),
            query: pathEnd < bytes.count ? String(decoding: bytes[(pathEnd + 1)...], as: UTF8.self) : nil)
    }
}

/// The grammar of plain URLs; a URL that it rejects may still be valid.
private enum PlainURL {
    /// The parts of a URL that a byte may occur in.
    private struct Use: OptionSet {
        let rawValue: UInt8
        static let host = Use(rawValue: 1), path = Use(rawValue: 2), query = Use(rawValue: 4)
    }

    private static let uses: [Use] = (0..<256).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            [.host, .path, .query]
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): [.path, .query]
        case _ where "._~!$&()*+,;=:@/".utf8.contains(UInt8(byte)): [.path, .query]
        case UInt8(ascii: "?"): [.query]
        default: []
        }
    }

    private static let schemes = ["http", "https"].map { ($0, Array(($0 + "://").utf8)) }
    private static let maxName = 253, maxLabel = 63
    private static let dot = UInt8(ascii: "."), slash = UInt8(ascii: "/"), zero = UInt8(ascii: "0")

    static func scheme(of bytes: [UInt8]) -> String? {
        schemes.first { bytes.starts(with: $0.1) }?.0
    }

    /// The end of a name of non-empty labels, or of a dotted decimal IPv4 address.
    static func endOfHost(in bytes: [UInt8], from start: Int) -> Int? {
        var place = start
        var label = start
        var labels = 1
        while place < bytes.count {
            let byte = bytes[place]
            if byte == dot {
                guard isLabel(bytes, label, place) else { return nil }
                label = place + 1
                labels += 1
            } else if !uses[Int(byte)].contains(.host) {
                break
            }
            place += 1
        }
        guard isLabel(bytes, label, place), place - start <= maxName else { return nil }
        // Only a last label that begins with a digit can make the host a number.
        guard isDigit(bytes[label]) else { return place }
        return labels == 4 && isAddress(bytes, start, place) ? place : nil
    }

    /// Checks that no label is empty, too long, or in Punycode.
    private static func isLabel(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Bool {
        guard end > start, end - start <= maxLabel else { return false }
        return
            !(end - start >= 4 && bytes[start + 2] == UInt8(ascii: "-")
            && bytes[start + 3] == UInt8(ascii: "-"))
    }

    /// Checks that there are numbers up to 255 without leading zeros, between full stops.
    private static func isAddress(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Bool {
        var (number, first) = (0, start)
        for place in start...end {
            guard place < end, bytes[place] != dot else {
                guard place > first, place == first + 1 || bytes[first] != zero else { return false }
                (number, first) = (0, place + 1)
                continue
            }
            guard isDigit(bytes[place]) else { return false }
            number = number * 10 + Int(bytes[place] - zero)
            guard number <= 255 else { return false }
        }
        return true
    }

    /// The port, if one is given, and the start of the path.
    static func port(in bytes: [UInt8], from start: Int) -> (port: Int?, path: Int)? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: ":") else {
            return start < bytes.count && bytes[start] == slash ? (nil, start) : nil
        }
        var place = start + 1
        var port = 0
        while place < bytes.count, isDigit(bytes[place]), place - start <= 5 {
            port = port * 10 + Int(bytes[place] - zero)
            place += 1
        }
        guard place < bytes.count, bytes[place] == slash, bytes[start + 1] != zero,
            (1...65_535).contains(port)
        else { return nil }
        return (port, place)
    }

    /// The end of a path that has no escape and no segment that begins with a full stop; a query or nothing
    /// follows.
    static func endOfPath(in bytes: [UInt8], from start: Int) -> Int? {
        var place = start
        while place < bytes.count, uses[Int(bytes[place])].contains(.path) {
            if bytes[place] == dot, bytes[place - 1] == slash { return nil }
            place += 1
        }
        guard place < bytes.count else { return place }
        guard bytes[place] == UInt8(ascii: "?"), place + 1 < bytes.count,
            bytes[(place + 1)...].allSatisfy({ uses[Int($0)].contains(.query) })
        else { return nil }
        return place
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }
}
