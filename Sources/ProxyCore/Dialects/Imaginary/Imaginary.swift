// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The URLs of imaginary: `/OPERATION?url=SOURCE&…`, or the picture as the body of a POST.
package struct Imaginary: Dialect {
    package static let name = "imaginary"

    /// The settings.
    package struct Settings: DialectSettings {
        package var keys: [String] = []
        package var signsURLs = false
        var signedPrefix = ""
        package var watermarks: [String: String] = [:]

        /// Creates the default settings.
        package init() {}

        package var secretFiles: [(setting: String, path: String)] { Self.secrets("keys", keys) }
        package var watermarkNames: [(setting: String, name: String)] { Self.named(in: watermarks) }

        package static let settings = SettingTable<Self>("How URLs of imaginary are read.") {
            Setting(
                "keys", \.keys, isSecret: true,
                "Files with the keys; without any, everything is allowed that `security` allows.")
            Setting(
                "signsURLs", \.signsURLs,
                """
                Whether the keys sign URLs (`-enable-url-signature`), or are sent themselves, as `key` or in
                the field `API-Key` (`-key`).
                """)
            Setting(
                "signedPrefix", \.signedPrefix,
                "What the signed path begins with where imaginary had a prefix (`-path-prefix`).")
            Setting(
                "watermarks", \.watermarks,
                "The watermarks of the configuration by the URLs that `watermarkimage` has for them.")
        }
    }

    let settings: Settings
    private let keys: [[UInt8]]

    /// Creates the dialect.
    ///
    /// - Parameters:
    ///   - settings: those of its element of `dialects`.
    ///   - keys: the bytes of the files that `settings.keys` names.
    package init(_ settings: Settings = Settings(), keys: [[UInt8]] = []) {
        self.settings = settings
        self.keys = keys
    }

    package let takesBodies = true
    package let answersInformation = true

    /// Without `url`, the picture is the request's body.
    package func translate(_ target: DialectTarget) throws(TranslationError) -> Translation {
        let pairs = ImaginaryQuery.pairs(of: target.query ?? "")
        let isSigned = try isSigned(target, pairs)
        let query = ImaginaryQuery(pairs)
        let name = String(target.path.dropFirst())
        var plan = ImaginaryPlan(settings)
        switch name {
        case "info": break
        case "pipeline": try plan.addAll(query)
        default: try plan.add(name, query)
        }
        var translation = plan.translation
        if !target.hasBody { translation["url"] = try source(query) }
        if name == "info" {
            translation.parameters.removeAll { $0.name != "url" }
            translation.answer = .facts
        }
        translation.isSigned = isSigned
        return translation
    }

    /// Of `/info`: as stored, not turned. GIF counts as transparent, and an orientation of 0 is none.
    package func facts(
        from information: JSONValue, for target: DialectTarget
    ) throws(TranslationError) -> JSONValue {
        let isGIF = information["format"] == .string("gif")
        let hasAlpha = isGIF || information["alpha"] == .bool(true)
        let isGrey = information["colorSpace"] == .string("grey")
        let space = isGrey ? .string("b-w") : information["colorSpace"] ?? .string("srgb")
        let colors = isGrey ? 1 : space == .string("cmyk") ? 4 : 3
        let orientation = information["orientation"] ?? .integer(1)
        return [
            "width": information["width"] ?? .null, "height": information["height"] ?? .null,
            "type": information["format"] ?? .null, "space": space, "hasAlpha": .bool(hasAlpha),
            "hasProfile": information["profile"] ?? .bool(false),
            "channels": .integer(colors + (hasAlpha ? 1 : 0)),
            "orientation": orientation == .integer(1) ? .integer(0) : orientation,
        ]
    }

    /// Only where a key is sent itself.
    package var keyField: String? { keys.isEmpty || settings.signsURLs ? nil : "API-Key" }

    package let namesSize = true

    /// What is no picture is 406, what can't be made of one 400; a wrong key 401, a forbidden source 400.
    package func compatibleStatus(of status: Int, code: String) -> Int {
        switch status {
        case 403 where code.hasPrefix("signature"): settings.signsURLs ? 403 : 401
        case 403, 422: 400
        case 415: 406
        default: status
        }
    }

    package func compatibleError(_ message: String, status: Int) -> JSONValue? {
        ["message": .string(message), "status": .integer(status)]
    }

    private func source(_ query: ImaginaryQuery) throws(TranslationError) -> String {
        guard let url = query.text("url") else {
            throw TranslationError(.invalid, "url", "is missing, and so is a body")
        }
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw TranslationError(.invalid, "url", "begins with http:// or https://")
        }
        return PercentText.url(Array(url.utf8))
    }

    // MARK: - Keys

    /// Whether a key allows the request; false where none is configured.
    private func isSigned(
        _ target: DialectTarget, _ pairs: [(name: String, value: String)]
    ) throws(TranslationError) -> Bool {
        guard !keys.isEmpty else { return false }
        return settings.signsURLs
            ? try hasSignature(target.path, pairs)
            : try hasKey(target.key ?? pairs.first { $0.name == "key" }?.value)
    }

    private func hasKey(_ given: String?) throws(TranslationError) -> Bool {
        var isValid = false
        for key in keys where MACText.areEqual(given ?? "", String(decoding: key, as: UTF8.self)) {
            isValid = true
        }
        guard isValid else { throw TranslationError(.signature, "key", "is missing or wrong") }
        return true
    }

    private func hasSignature(
        _ path: String, _ pairs: [(name: String, value: String)]
    ) throws(TranslationError) -> Bool {
        guard let given = pairs.first(where: { $0.name == "sign" })?.value, !given.isEmpty else {
            throw TranslationError(.signature, "sign", "is missing")
        }
        guard Base64.decodeURL(given.utf8) != nil else {
            throw TranslationError(.invalid, "sign", "is base64url without padding")
        }
        let text = settings.signedPrefix + path + Self.sorted(pairs.filter { $0.name != "sign" })
        var isValid = false
        for key in keys {
            let mac = HMACKey(.sha256, key).code(for: Array(text.utf8))
            if MACText.areEqual(given, MACText.text(of: mac, isPadded: false)) { isValid = true }
        }
        guard isValid else { throw TranslationError(.signature, "sign", "does not fit the URL and any key") }
        return true
    }

    /// The parameters as they are signed: sorted by name, equal names in their order, encoded as forms are.
    private static func sorted(_ pairs: [(name: String, value: String)]) -> String {
        let names = Set(pairs.map(\.name)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return names.flatMap { name in
            pairs.filter { $0.name == name }.map { "\(formEncoded(name))=\(formEncoded($0.value))" }
        }.joined(separator: "&")
    }

    private static func formEncoded(_ text: String) -> String {
        text.utf8.percentEncoded { $0.isUnreserved || $0 == UInt8(ascii: " ") }.replacing(" ", with: "+")
    }
}
