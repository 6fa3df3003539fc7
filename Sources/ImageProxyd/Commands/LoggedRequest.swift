// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A request for another proxy's URL, as a log or a person writes it.
struct LoggedRequest {
    /// Path and query.
    let target: String
    /// The scheme and host before it, with a slash at the end; nil where the URL has none.
    var site: String?
    /// Whether the picture came with the request.
    let hasBody: Bool

    /// Reads a URL, or its path and query; nil where it is neither.
    init?(url: some StringProtocol, hasBody: Bool = false) {
        self.hasBody = hasBody
        if url.hasPrefix("/") {
            target = String(url)
            return
        }
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), let mark = url.firstRange(of: "://"),
            let slash = url[mark.upperBound...].firstIndex(of: "/")
        else { return nil }
        target = String(url[slash...])
        site = String(url[...slash])
    }

    /// Reads a line: a URL, a request in quotes as Apache and nginx have it, or JSON with one of them.
    init?(line: some StringProtocol) {
        if line.hasPrefix("{") {
            var parser = JSONParser(Array(line.utf8))
            // Ignored: what is wrong with the line; it counts as one without a URL.
            guard let json = try? parser.parse() else { return nil }
            self.init(json)
        } else if let request = Self(url: line) {
            self = request
        } else {
            let quoted = line.split(separator: "\"", omittingEmptySubsequences: false)
            guard let request = quoted.lazy.compactMap({ Self(requestLine: $0) }).first else { return nil }
            self = request
        }
    }

    /// `GET /path HTTP/1.1`.
    private init?(requestLine text: some StringProtocol) {
        let words = text.split(separator: " ")
        guard words.count == 3, ["GET", "HEAD", "POST"].contains(words[0]), words[2].hasPrefix("HTTP/") else {
            return nil
        }
        self.init(url: words[1], hasBody: words[0] == "POST")
    }

    /// Names of members that have the target in logs of nginx, Caddy, Traefik and Envoy.
    private static let members: Set = [
        "uri", "request_uri", "url", "path", "target", "RequestPath", "x-envoy-original-path",
    ]

    private init?(_ json: JSONValue) {
        guard case .object(let members) = json else { return nil }
        let method = members.first { $0.name.lowercased().hasSuffix("method") }?.value
        for member in members {
            switch member.value {
            case .object:
                guard let request = Self(member.value) else { continue }
                self = request
                return
            case .string(let text):
                let named =
                    Self.members.contains(member.name)
                    ? Self(url: text, hasBody: method == .string("POST")) : nil
                guard let request = named ?? Self(requestLine: text) else { continue }
                self = request
                return
            default: continue
            }
        }
        return nil
    }
}
