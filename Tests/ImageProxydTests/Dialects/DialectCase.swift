// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport

/// A URL of another image proxy, and what that proxy answered: a line of `Tests/Fixtures/dialects`.
struct DialectCase: Sendable {
    private let json: JSONValue

    /// All cases of a dialect.
    static func all(of dialect: String) throws -> [DialectCase] {
        try Fixtures.read("dialects/\(dialect).jsonl").split(separator: UInt8(ascii: "\n")).map { line in
            var parser = JSONParser(Array(line))
            return DialectCase(json: try parser.parse())
        }
    }

    var id: String { json["id"]?.text ?? "" }
    var profile: String { json["profile"]?.text ?? "main" }
    var method: String { json["method"]?.text ?? "GET" }
    var expected: JSONValue { json["expect"] ?? .null }
    /// How far the thumbnail may be off: the mean of all cells, and one cell.
    var tolerance: (mean: Double, worst: Double) {
        (json["limit"]?.decimal ?? 10, json["worst"]?.decimal ?? 255)
    }

    /// The header fields, with the origin's address.
    func fields(_ origin: DialectOrigin) -> [String] {
        guard case .object(let members)? = json["headers"] else { return [] }
        return members.map { "\($0.name): \(origin.filling($0.value.text ?? ""))" }
    }

    /// The source that is sent as body, and its name if it is sent in a form.
    var body: (file: String, form: String?)? { json["body"]?.text.map { ($0, json["form"]?.text) } }

    /// Whether a part of the answer is not compared.
    func ignores(_ part: String) -> Bool {
        guard case .array(let parts)? = json["ignore"] else { return false }
        return parts.contains(.string(part))
    }

    // MARK: - The target

    /// The target, with the origin's address, base64 and signature in it; a client sends no fragment (RFC 9110 §7.1).
    func target(_ origin: DialectOrigin) -> String { String(url(origin).prefix { $0 != "#" }) }

    private func url(_ origin: DialectOrigin) -> String {
        let encoded = encodedSource(origin)
        func filled(_ text: String) -> String { origin.filling(text.replacing("{B64}", with: encoded)) }
        let path = json["path"]?.text ?? ""
        guard let sign = json["sign"] else { return filled(path) }
        return filled(path).replacing(
            "{SIG}", with: signature(sign, over: filled(sign["over"]?.text ?? path)))
    }

    private func encodedSource(_ origin: DialectOrigin) -> String {
        guard let encoding = json["b64"], let text = encoding["of"]?.text else { return "" }
        var encoded = Base64.encodeURL(origin.filling(text).utf8)
        if let style = encoding["style"]?.text, style != "url" {
            encoded += String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4)
            if style == "std" { encoded = encoded.replacing("-", with: "+").replacing("_", with: "/") }
        }
        guard let size = encoding["chunk"]?.whole else { return encoded }
        let characters = Array(encoded)
        return stride(from: 0, to: characters.count, by: size).map {
            String(characters[$0..<min($0 + size, characters.count)])
        }.joined(separator: "/")
    }

    private func signature(_ sign: JSONValue, over text: String) -> String {
        let key = sign["key"]?.text ?? ""
        var signature: String
        switch sign["alg"]?.text {
        case "imgproxy":
            let salt = Self.bytes(ofDigits: sign["salt"]?.text ?? "")
            let code = HMACKey(.sha256, Self.bytes(ofDigits: key))
                .code(for: salt + Self.rest(of: text, behind: "{SIG}").utf8)
            signature = Base64.encodeURL(code.prefix(sign["size"]?.whole ?? 32))
        case "thumbor":
            let code = HMACKey(.sha1, Array(key.utf8))
                .code(for: Array(Self.rest(of: text, behind: "{SIG}/").utf8))
            signature = Base64.encodeURL(code)
            signature += String(repeating: "=", count: (4 - signature.utf8.count % 4) % 4)
        case "imaginary":
            let code = HMACKey(.sha256, Array(key.utf8)).code(for: Array(Self.sortedQuery(of: text).utf8))
            signature = Base64.encodeURL(code)
        default:
            signature = HashFunction.md5.hash(Array((key + Self.withoutSignature(text)).utf8)).hexadecimal
        }
        if let length = sign["cut"]?.whole { signature = String(signature.prefix(length)) }
        return sign["as"]?.text?.replacing("{}", with: signature) ?? signature
    }

    private static func rest(of text: String, behind mark: String) -> String {
        text.firstRange(of: mark).map { String(text[$0.upperBound...]) } ?? text
    }

    private static func bytes(ofDigits text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }

    /// imaginary's signed text: the path, and the other parameters by name, encoded as forms are.
    private static func sortedQuery(of text: String) -> String {
        let parts = text.split(separator: "?", maxSplits: 1)
        let pairs = (parts.count == 2 ? String(parts[1]) : "").split(separator: "&").filter {
            !$0.hasPrefix("sign=")
        }
        let encoded = pairs.map { $0.replacing(":", with: "%3A").replacing("/", with: "%2F") }
        return parts[0] + encoded.sorted().joined(separator: "&")
    }

    /// imgix' signed text: all but the signature.
    private static func withoutSignature(_ text: String) -> String {
        let parts = text.split(separator: "?", maxSplits: 1)
        let pairs = (parts.count == 2 ? String(parts[1]) : "").split(separator: "&").filter {
            !$0.hasPrefix("s=")
        }
        return parts[0] + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}

extension JSONValue {
    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var whole: Int? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    var decimal: Double? {
        if case .number(let number) = self { return number }
        return whole.map(Double.init)
    }
}
