// SPDX-License-Identifier: Apache-2.0

@testable import HTTPServer

/// The grammar of a head a second time, as simple as possible: regular expressions over whole text, without
/// regard to speed.
///
/// Shares nothing with the parser, so that both are wrong together only by the same misreading of the RFC.
/// Has no bounds.
struct PlainReading {
    /// The result of parsing a head.
    enum Verdict: Equatable {
        /// There is no complete head.
        case incomplete
        case refused
        case accepted(target: String, host: String?, lines: Int, RequestFraming)
    }

    let verdict: Verdict

    init(_ bytes: [UInt8]) {
        // Every octet is a character of its own; CR LF becomes a mark that no octet is, since Swift joins the
        // two.
        var text = ""
        for (index, octet) in bytes.enumerated() {
            if octet == 0x0A, index > 0, bytes[index - 1] == 0x0D {
                text.unicodeScalars.removeLast()
                text += Self.mark
            } else {
                text.unicodeScalars.append(Unicode.Scalar(octet))
            }
        }
        var lines = text.split(separator: Self.mark, omittingEmptySubsequences: false)
        var skipped = 0
        while lines.first == "", skipped < 2 {
            lines.removeFirst()
            skipped += 1
        }
        guard let end = lines.dropLast().firstIndex(of: "") else {
            verdict = .incomplete
            return
        }
        verdict = Self.read(Array(lines[..<end].map(String.init))) ?? .refused
    }

    private static let mark = "\u{2028}"

    private static func read(_ lines: [String]) -> Verdict? {
        guard let first = lines.first, let request = try? requestLine().wholeMatch(in: first) else {
            return nil
        }
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let field = try? fieldLine().wholeMatch(in: line) else { return nil }
            fields.append((field.1.lowercased(), String(field.2)))
        }
        let values = { (name: String) in fields.filter { $0.name == name }.map(\.value) }
        let isOld = request.3 == "0"
        let hosts = values("host")
        guard hosts.count == 1 || hosts.isEmpty && isOld, hosts.allSatisfy(isHost) else { return nil }
        guard let (target, authority) = target(String(request.2), of: String(request.1)) else { return nil }
        guard let framing = framing(values, isOld: isOld, isTrace: request.1 == "TRACE") else { return nil }
        let extra = authority != nil && hosts.isEmpty ? 1 : 0
        return .accepted(target: target, host: authority ?? hosts.first, lines: fields.count + extra, framing)
    }

    private static func requestLine() -> Regex<(Substring, Substring, Substring, Substring)> {
        /(GET|HEAD|POST|PUT|DELETE|OPTIONS|TRACE|PATCH|PURGE) ([!$-;=?-~]+) HTTP\/1\.([0-9])/
            .matchingSemantics(.unicodeScalar)
    }

    private static func fieldLine() -> Regex<(Substring, Substring, Substring)> {
        /([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*((?:[!-~\u{80}-\u{FF}](?:[\t -~\u{80}-\u{FF}]*[!-~\u{80}-\u{FF}])?)?)[ \t]*/
            .matchingSemantics(.unicodeScalar)
    }

    /// The target as the handler sees it, and the authority of an absolute-form.
    private static func target(_ target: String, of method: String) -> (String, String?)? {
        if target.hasPrefix("/") || target == "*" && method == "OPTIONS" { return (target, nil) }
        let absolute = /(?i:https?):\/\/([^\/?]+)(.*)/.matchingSemantics(.unicodeScalar)
        guard let match = try? absolute.wholeMatch(in: target), isHost(String(match.1)) else { return nil }
        if match.2.isEmpty { return (method == "OPTIONS" ? "*" : "/", String(match.1)) }
        return ((match.2.hasPrefix("/") ? "" : "/") + match.2, String(match.1))
    }

    private static func isHost(_ text: String) -> Bool {
        let name = /(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})+(?::([0-9]*))?/.matchingSemantics(
            .unicodeScalar)
        if let match = try? name.wholeMatch(in: text) { return isPort(match.1) }
        let address = /\[([0-9A-Fa-f:.]+)\](?::([0-9]*))?/.matchingSemantics(.unicodeScalar)
        guard let match = try? address.wholeMatch(in: text) else { return false }
        return isPort(match.2) && isAddress(String(match.1))
    }

    private static func isPort(_ digits: Substring?) -> Bool {
        guard let digits, !digits.isEmpty else { return true }
        return Int(digits).map { $0 <= 65_535 } ?? false
    }

    /// An IPv6 address, by expanding its run of zeros.
    private static func isAddress(_ text: String) -> Bool {
        var groups = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        if let last = groups.last, last.contains(".") {
            let numbers = last.split(separator: ".", omittingEmptySubsequences: false)
            let areNumbers = numbers.allSatisfy { number in
                (1...3).contains(number.count) && (Int(number) ?? 256) <= 255
                    && String(Int(number) ?? -1) == number
            }
            guard numbers.count == 4, areNumbers else { return false }
            groups.replaceSubrange((groups.count - 1)..., with: ["0", "0"])
        }
        if groups.first == "", groups.count > 2, groups[1] == "" { groups.removeFirst() }
        if groups.last == "", groups.count > 1, groups[groups.count - 2] == "" { groups.removeLast() }
        let runs = groups.filter(\.isEmpty).count
        guard groups.allSatisfy({ $0.count <= 4 && !$0.contains(".") }) else { return false }
        return runs == 0 ? groups.count == 8 : runs == 1 && groups.count <= 8
    }

    private static func framing(_ values: (String) -> [String], isOld: Bool, isTrace: Bool) -> RequestFraming?
    {
        var framing = RequestFraming(keepsAlive: !isOld)
        let (lengths, codings) = (values("content-length"), values("transfer-encoding"))
        if !codings.isEmpty {
            guard codings.count == 1, codings[0].lowercased() == "chunked", lengths.isEmpty, !isOld else {
                return nil
            }
            framing.body = .chunked
        } else if !lengths.isEmpty {
            let isNumber = lengths[0].wholeMatch(of: /[0-9]{1,18}/.matchingSemantics(.unicodeScalar)) != nil
            guard lengths.count == 1, isNumber, let length = Int(lengths[0]) else { return nil }
            if length > 0 { framing.body = .length(length) }
        }
        guard framing.body == .none || !isTrace else { return nil }
        let options = members(values("connection"))
        if options.contains("keep-alive") { framing.keepsAlive = true }
        if options.contains("close") { framing.keepsAlive = false }
        let expectations = isOld ? [] : members(values("expect"))
        guard expectations.allSatisfy({ $0 == "100-continue" }) else { return nil }
        framing.expectsContinue = !expectations.isEmpty && framing.body != .none
        return framing
    }

    private static func members(_ values: [String]) -> [String] {
        values.joined(separator: ",").split(separator: ",")
            .map { $0.drop { " \t".contains($0) }.reversed().drop { " \t".contains($0) }.reversed() }
            .map { String($0).lowercased() }.filter { !$0.isEmpty }
    }
}
