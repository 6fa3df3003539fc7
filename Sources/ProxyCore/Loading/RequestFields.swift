// SPDX-License-Identifier: Apache-2.0

import Freshness
import Origins
import Primitives
import URLs

/// The fields that every origin gets, and those that a request adds.
struct RequestFields: Sendable {
    private let constant: [HeaderField]
    /// The lines of a request that adds no field.
    private let constantLines: [String]

    /// The accepted media types: any image, anything else if necessary.
    private static let accept = HeaderField(name: "Accept", value: "image/*,*/*;q=0.5")
    /// Fields that authenticate; they are sent only to the origin that they belong to.
    private static let credentials: Set<String> = ["authorization", "cookie", "proxy-authorization"]

    /// Checks the configured fields.
    init(configuration: FetchConfiguration) throws(CurlLoader.SetupError) {
        guard FieldSyntax.isValue(configuration.userAgent) else { throw .invalidField("userAgent") }
        guard configuration.via.isToken else { throw .invalidField("via") }
        var fields: [HeaderField] = []
        for (name, value) in configuration.headers.sorted(by: { $0.key < $1.key }) {
            guard FieldSyntax.mayBeConfigured(name), FieldSyntax.isValue(value) else {
                throw .invalidField(name)
            }
            fields.append(HeaderField(name: name, value: value))
        }
        fields += Self.signature(of: configuration.via)
        constant = fields.contains { $0.name.lowercased() == "accept" } ? fields : [Self.accept] + fields
        constantLines = constant.map(Self.line)
    }

    /// The fields that name this daemon as a proxy (RFC 9110 §7.6.3, RFC 8586 §2).
    private static func signature(of name: String) -> [HeaderField] {
        [
            HeaderField(name: "Via", value: "1.1 \(name)"),
            HeaderField(name: "CDN-Loop", value: name),
        ]
    }

    /// Returns all lines for one hop of a request; credentials only for their own origin.
    ///
    /// Fields of an origin rule are sent only to its origin.
    /// - Parameter hop: the URL of the hop; validators are sent only to the URL that they came from.
    func lines(for job: LoadJob, to hop: SourceURL, isCrossOrigin: Bool) -> [String] {
        let request = job.request
        let isSigned = !isCrossOrigin && job.keys != nil
        if !isCrossOrigin, !isSigned, request.addsNoFields { return constantLines }
        let named = Set(request.fields.map { $0.name.lowercased() })
        let ruled = isCrossOrigin ? [] : Self.ruled(request.rule, job.keys)
        let special = request.fields + ruled.filter { !named.contains($0.name.lowercased()) }
        // libcurl omits the signature if another field authenticates.
        let signed: Set<String> = isSigned ? ["authorization", "x-amz-date"] : []
        let own = signed.union(special.map { $0.name.lowercased() })
        let before = Dictionary(
            special.filter(\.isHistory).map { ($0.name, $0.value) }, uniquingKeysWith: { $0 + ", " + $1 })
        let ours = constant.filter { $0.isHistory || !own.contains($0.name.lowercased()) }.map { field in
            before[field.name].map { .init(name: field.name, value: "\($0), \(field.value)") } ?? field
        }
        let fields =
            ours + special.filter { !$0.isHistory }
            + (request.isConditional(at: hop) ? Self.validators(request) : [])
        return fields.filter {
            $0.isOneLine && (!isCrossOrigin || !Self.credentials.contains($0.name.lowercased()))
        }.map(Self.line)
    }

    private static func ruled(_ rule: OriginRule?, _ keys: AWSKeys?) -> [HeaderField] {
        guard let credentials = rule?.credentials else { return [] }
        // libcurl signs every field that it is given.
        let token = keys?.sessionToken.map { HeaderField(name: "x-amz-security-token", value: $0.text) }
        return credentials.fields.map { HeaderField(name: $0.name, value: $0.value.text) }
            + (token.map { [$0] } ?? [])
    }

    private static func validators(_ request: OriginRequest) -> [HeaderField] {
        let tag = request.ifNoneMatch.map { HeaderField(name: "If-None-Match", value: $0) }
        let date = request.ifModifiedSince.map { HeaderField(name: "If-Modified-Since", value: $0) }
        return [tag, date].compactMap { $0 }
    }

    /// libcurl interprets `Name:` as an instruction to omit the field, and `Name;` as an empty field.
    private static func line(_ field: HeaderField) -> String {
        field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value
    }
}

extension HeaderField {
    /// Whether the field lists a request's path: each proxy appends itself and removes nothing.
    fileprivate var isHistory: Bool { name == "CDN-Loop" || name == "Via" }

    /// Whether libcurl sends one field for it. Every source of fields refuses others; this is the second line of defence
    /// against a request within a request.
    fileprivate var isOneLine: Bool {
        [name, value].allSatisfy { $0.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 } }
    }
}

extension OriginRequest {
    /// Whether the request gets only the fields of every request.
    fileprivate var addsNoFields: Bool {
        fields.isEmpty && rule == nil && ifNoneMatch == nil && ifModifiedSince == nil
    }
}
