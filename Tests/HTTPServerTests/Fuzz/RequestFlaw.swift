// SPDX-License-Identifier: Apache-2.0

@testable import HTTPServer

/// What must hold for every accepted request, whatever the bytes were.
enum RequestFlaw {
    /// What is wrong with an accepted request, if anything is.
    static func first(in request: HTTPRequest, _ limits: RequestLimits) -> String? {
        let target = request.target
        guard target.hasPrefix("/") || (target == "*" && request.method == .options) else {
            return "the target is \(target)"
        }
        guard request.values(of: .host).count <= 1 else { return "there are two hosts" }
        guard request.isHTTP10 || request.has(.host) else { return "there is no host" }
        guard request.lines.count <= limits.fieldLines + 1 else { return "there are too many lines" }
        for line in request.lines {
            guard request.head[line.name].allSatisfy(OctetSet.token.contains) else { return "a name is none" }
            guard request.head[line.value].allSatisfy(Octet.isFieldText) else { return "a value is none" }
        }
        return rereading(request, limits)
    }

    /// An accepted head, written anew from its parts, must be parsed as the same parts.
    private static func rereading(_ request: HTTPRequest, _ limits: RequestLimits) -> String? {
        let bytes = rewritten(request)
        var limits = limits
        // An authority that has become a field may cost an octet, and a line, more.
        limits.headBytes += 1
        limits.fieldLines += 1
        var (parser, again) = (RequestParser(limits), HTTPRequest())
        let outcome = bytes.withUnsafeBytes { parser.parse($0, into: &again) }
        guard case .head(bytes.count, let framing) = outcome else { return "written anew it is \(outcome)" }
        var copy = request
        guard let original = try? RequestFraming(of: &copy), original == framing else {
            return "written anew it is framed otherwise"
        }
        return values(again) == values(request) ? nil : "written anew it is another"
    }

    private static func rewritten(_ request: HTTPRequest) -> [UInt8] {
        let version = request.isHTTP10 ? "1.0" : "1.1"
        var bytes = Array("\(request.method.rawValue) \(request.target) HTTP/\(version)\r\n".utf8)
        for line in request.lines {
            // The authority of an absolute-form has no name of its own.
            bytes += line.known == .host ? Array("Host".utf8) : Array(request.head[line.name])
            bytes += [UInt8(ascii: ":")] + request.head[line.value] + [Octet.carriageReturn, Octet.lineFeed]
        }
        return bytes + [Octet.carriageReturn, Octet.lineFeed]
    }

    private static func values(_ request: HTTPRequest) -> [[UInt8]] {
        [Array(request.method.rawValue.utf8), Array(request.target.utf8), [request.isHTTP10 ? 0 : 1]]
            + request.lines.map { Array(request.head[$0.value]) }
    }
}
