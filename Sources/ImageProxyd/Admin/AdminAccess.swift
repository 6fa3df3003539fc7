// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability
import Primitives

/// Checks who may use the admin listener.
struct AdminAccess: Sendable {
    /// Digest of the required bearer token (RFC 6750); nil accepts every client, which the settings permit on
    /// loopback and unix sockets only.
    private let digest: [UInt8]?

    init(token: [UInt8]?) {
        digest = token.map { SHA256.hash($0) }
    }

    /// Nil if the request is permitted, else the answer.
    func refusal(of request: HTTPRequest) -> HTTPResponse? {
        if changesSomething(request), isFromOtherSite(request) { return Self.otherSite }
        guard let digest else { return isAddressedByName(request) ? Self.wrongHost : nil }
        let shown = unsafe request.withFirstValue(of: .authorization) { unsafe Self.token(in: $0) } ?? nil
        // Digests are compared in constant time, and are all of one length.
        if let shown, SHA256.hash(shown).isEqualInConstantTime(to: digest) { return nil }
        return Self.unauthorized
    }

    private func changesSomething(_ request: HTTPRequest) -> Bool {
        request.method != .get && request.method != .head
    }

    /// Whether a page of another site sends the request, by what its browser says of that (Fetch Metadata §2.3; RFC
    /// 6454 §7): a browser of an operator would sign or send for it what only he may. Other programs say neither.
    private func isFromOtherSite(_ request: HTTPRequest) -> Bool {
        if let site = Self.text(of: .fetchSite, in: request) {
            return site != "same-origin" && site != "none"
        }
        guard let origin = Self.text(of: .origin, in: request) else { return false }
        // Without the scheme, which a proxy in front may have ended.
        let host = origin.firstRange(of: "://").map { origin[$0.upperBound...] }
        return host.map { String($0) } != Self.text(of: .host, in: request)
    }

    private static func text(of name: FieldName, in request: HTTPRequest) -> String? {
        unsafe request.withFirstValue(of: name) { unsafe String(decoding: $0, as: UTF8.self).lowercased() }
    }

    private static func token(in value: UnsafeRawBufferPointer) -> [UInt8]? {
        let scheme = Array("bearer ".utf8)
        guard value.count > scheme.count,
            unsafe value.prefix(scheme.count).elementsEqual(scheme, by: { $0 | 0x20 == $1 | 0x20 })
        else { return nil }
        return unsafe Array(value.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") })
    }

    /// Whether the request is addressed by a name of the DNS: one that resolves to loopback is an attacker's (DNS
    /// rebinding).
    ///
    /// A browser reaches a unix socket, too, through a port that ssh forwards to it. Programs that connect to one may call the
    /// daemon by any name without a dot.
    private func isAddressedByName(_ request: HTTPRequest) -> Bool {
        let host =
            unsafe request.withFirstValue(of: .host) { unsafe String(decoding: $0, as: UTF8.self) } ?? ""
        let name = host.hasPrefix("[") ? Substring(host) : host.prefix { $0 != ":" }
        if request.client == .unix, !name.contains(".") { return false }
        return !name.hasPrefix("[") && name.lowercased() != "localhost"
            && !name.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
    }

    private static let unauthorized: HTTPResponse = {
        var response = ResponseMapping.problem(.unauthorized, context: ExchangeContext(.admin))
        response.fields.append(.wwwAuthenticate, text: #"Bearer realm="imageproxyd""#)
        return response
    }()

    private static let otherSite = ResponseMapping.problem(
        .otherSite.explained(
            "Sec-Fetch-Site or Origin names another site; only pages of this listener may do that"),
        context: ExchangeContext(.admin))

    private static let wrongHost = ResponseMapping.problem(.wrongHost, context: ExchangeContext(.admin))
}

extension FieldName {
    /// `WWW-Authenticate` (RFC 9110 §11.6.1).
    static let wwwAuthenticate = FieldName(literal: "WWW-Authenticate")
    /// `Sec-Fetch-Site` (W3C Fetch Metadata §2.3).
    static let fetchSite = FieldName(literal: "Sec-Fetch-Site")
    /// `Authorization` (RFC 9110 §11.6.2).
    static let authorization = FieldName(literal: "Authorization")
}
