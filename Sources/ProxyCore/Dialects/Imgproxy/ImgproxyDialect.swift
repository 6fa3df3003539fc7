// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// imgproxy's URLs: `/SIGNATURE/OPTION:ARGUMENT:…/…/SOURCE`.
package struct ImgproxyDialect: Dialect {
    package static let name = "imgproxy"

    /// The settings that the original has, too.
    package struct Settings: DialectSettings {
        package var keys: [String] = []
        package var salts: [String] = []
        package var signatureSize = 32
        package var trustedSignatures: [String] = []
        package var presets: [String: String] = [:]
        package var onlyPresets = false
        package var allowedOptions: [String] = []
        package var securityOptions = false
        package var baseURL = ""
        package var base64IncludesFilename = false
        package var autoFormat = false
        package var watermark = ""
        package var pro = false

        /// The defaults.
        package init() {}

        package var secretFiles: [(setting: String, path: String)] {
            Self.secrets("keys", keys) + Self.secrets("salts", salts)
        }

        package var watermarkNames: [(setting: String, name: String)] {
            watermark.isEmpty ? [] : [("watermark", watermark)]
        }

        package static let settings = SettingTable<Self>("How URLs of imgproxy are read.") {
            Setting(
                "keys", \.keys, isSecret: true,
                """
                Keys of signatures: paths of files, each holding what `IMGPROXY_KEY` holds: hexadecimal
                digits. Without any, anything stands in the signature's place.
                """)
            Setting(
                "salts", \.salts, isSecret: true,
                "The salts of the keys, in their order: paths of files likewise (`IMGPROXY_SALT`).")
            Setting(
                "signatureSize", \.signatureSize, in: 4...32,
                """
                The number of bytes of a signature (`IMGPROXY_SIGNATURE_SIZE`). 32 is all of them; fewer
                than 4 could be guessed.
                """)
            Setting(
                "trustedSignatures", \.trustedSignatures, isSecret: true,
                "Texts that are accepted in a signature's place (`IMGPROXY_TRUSTED_SIGNATURES`).")
            Setting(
                "presets", \.presets,
                """
                Options by the name of their preset (`IMGPROXY_PRESETS`): `{"thumb":
                "rs:fill:120:90/g:no"}`; those of `default` apply to every URL.
                """)
            Setting(
                "onlyPresets", \.onlyPresets,
                "Whether a URL has names of presets in place of options (`IMGPROXY_ONLY_PRESETS`).")
            Setting(
                "allowedOptions", \.allowedOptions,
                """
                The names of the options that a URL may have (`IMGPROXY_ALLOWED_PROCESSING_OPTIONS`).
                Without any, any.
                """)
            Setting(
                "securityOptions", \.securityOptions,
                "Whether a URL may have options about limits (`IMGPROXY_ALLOW_SECURITY_OPTIONS`).")
            Setting("baseURL", \.baseURL, "What sources without a scheme begin with (`IMGPROXY_BASE_URL`).")
            Setting(
                "base64IncludesFilename", \.base64IncludesFilename,
                """
                Whether the last part of a base64 source is a file name
                (`IMGPROXY_BASE64_URL_INCLUDES_FILENAME`).
                """)
            Setting(
                "autoFormat", \.autoFormat,
                """
                Whether `Accept` chooses the format where the URL does not (`IMGPROXY_AUTO_WEBP`,
                `IMGPROXY_AUTO_AVIF`). Otherwise the source's format stays.
                """)
            Setting(
                "watermark", \.watermark,
                """
                The name, in `watermarks`, of the picture that `watermark` draws
                (`IMGPROXY_WATERMARK_PATH`). Without any, `watermark` is refused.
                """)
            Setting(
                "pro", \.pro,
                """
                Whether options of the commercial version that have an equivalent are translated, too.
                Otherwise they are unknown.
                """)
        }
    }

    let settings: Settings
    private let keys: [(key: HMACKey, salt: [UInt8])]

    /// Prepares a dialect.
    ///
    /// - Parameters:
    ///   - settings: those of its element of `dialects`.
    ///   - keys: the keys' digits, and then their salts'.
    package init(_ settings: Settings, keys: [[UInt8]] = []) throws(TranslationError) {
        self.settings = settings
        guard settings.keys.count == settings.salts.count, keys.count == settings.secretFiles.count else {
            throw TranslationError(.invalid, "salts", "as many are needed as keys")
        }
        var secrets: [[UInt8]] = []
        for (index, text) in keys.enumerated() {
            guard let secret = [UInt8](hexadecimal: text) else {
                let isKey = index < settings.keys.count
                throw TranslationError(
                    .invalid, isKey ? "keys" : "salts", "a file does not hold hexadecimal digits")
            }
            secrets.append(secret)
        }
        self.keys = zip(secrets, secrets.dropFirst(settings.keys.count)).map { (HMACKey(.sha256, $0), $1) }
        guard !settings.onlyPresets || !settings.presets.isEmpty else {
            throw TranslationError(.invalid, "onlyPresets", "'presets' is empty, so no URL could be answered")
        }
        try SourceBase.check(settings.baseURL, setting: "baseURL")
        for (index, name) in settings.allowedOptions.enumerated()
        where ImgproxyOption.byName[name] == nil && !ImgproxyOption.untranslated.contains(name) {
            let error = Self.unknown(name, settings)
            throw TranslationError(.invalid, "allowedOptions.\(index)", "'\(error.option)': \(error.reason)")
        }
        for name in settings.presets.keys.sorted() {
            var options = ImgproxyOptions()
            do throws(TranslationError) {
                try apply(preset: name, to: &options, [])
            } catch {
                throw TranslationError(.invalid, "presets.\(name)", "\(error.option): \(error.reason)")
            }
        }
    }

    /// Invalid and expired URLs are 404 there, and pictures that can't be read 422.
    package func compatibleStatus(of status: Int, code: String) -> Int {
        switch status {
        case 400, 410: 404
        case 415: 422
        default: status
        }
    }

    package func translate(_ target: DialectTarget) throws(TranslationError) -> Translation {
        let (signature, path) = try divide(target.path)
        let isSigned = try check(signature, of: path)
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        var options = ImgproxyOptions()
        if let usual = settings.presets["default"] { try apply(preset: "default", usual, to: &options, []) }
        let source = try ImgproxySource(readOptions(parts, into: &options), settings)
        if options.expires > 0, options.expires <= target.now {
            throw TranslationError(.expired, "expires", "the URL's time is over")
        }
        return try ImgproxyTranslation(options, source, settings).translation(isSigned: isSigned)
    }

    /// The first part, and the rest with one slash in front; spellings that clients produce are repaired.
    private func divide(_ target: String) throws(TranslationError) -> (signature: Substring, path: String) {
        let text = target.drop { $0 == "/" }
        guard let slash = text.firstIndex(of: "/"), text.index(after: slash) < text.endIndex else {
            throw TranslationError(.notFound, "", "a URL is /SIGNATURE/OPTIONS/SOURCE")
        }
        return (text[..<slash], Self.repaired("/" + text[slash...].drop { $0 == "/" }))
    }

    /// `%3A` is `:` in front of a plain source, which has both slashes of its scheme, although something in
    /// between encoded the one and merged the others.
    private static func repaired(_ path: String) -> String {
        let plain = path.firstRange(of: "/plain/")
        let options = String(path[..<(plain?.upperBound ?? path.endIndex)]).replacing("%3A", with: ":")
        guard let plain else { return options }
        let source = path[plain.upperBound...]
        guard let colon = source.firstIndex(of: ":") else { return options + source }
        let scheme = source[..<colon]
        let rest = source[source.index(after: colon)...]
        guard !scheme.isEmpty, !scheme.contains("/"), rest.hasPrefix("/"), !rest.hasPrefix("//") else {
            return options + source
        }
        return options + scheme + (scheme == "local" ? "://" : ":/") + rest
    }

    // MARK: - Signatures

    /// Whether the signature is valid; false for one that is accepted as it stands.
    private func check(_ signature: Substring, of path: String) throws(TranslationError) -> Bool {
        guard !signature.contains(":") else {
            throw TranslationError(
                .signature, "signature", "'\(signature.excerpt)' stands in the signature's place")
        }
        guard !keys.isEmpty else { return false }
        guard !settings.trustedSignatures.contains(String(signature)) else { return false }
        let code = Base64.decodeURL(signature.utf8) ?? []
        var isValid = false
        for (key, salt) in keys {
            let expected = key.code(for: salt + path.utf8).prefix(settings.signatureSize)
            if code.isEqualInConstantTime(to: Array(expected)) { isValid = true }
        }
        guard isValid else {
            throw TranslationError(
                .signature, "signature", "it was made with another key, or over another path")
        }
        return true
    }

    // MARK: - Options

    /// Reads the parts in front of the source, and returns those of the source.
    private func readOptions(
        _ parts: ArraySlice<Substring>, into options: inout ImgproxyOptions
    ) throws(TranslationError) -> ArraySlice<Substring> {
        var rest = parts
        if settings.onlyPresets {
            let names = rest.popFirst() ?? ""
            for name in names.split(separator: ":", omittingEmptySubsequences: false) {
                try apply(preset: String(name), to: &options, [])
            }
            return rest
        }
        while let part = rest.first, part.contains(":") || isBetweenPipelines(part) {
            rest.removeFirst()
            if part == "-" {
                options.beginNext()
            } else {
                try apply(part, to: &options, presets: [], isInURL: true)
            }
        }
        return rest
    }

    /// Whether a part divides two pipelines, of which the second takes the result of the first.
    private func isBetweenPipelines(_ part: Substring) -> Bool { settings.pro && part == "-" }

    /// Applies one option.
    /// - Parameter presets: the presets whose options these are.
    private func apply(
        _ part: Substring, to options: inout ImgproxyOptions, presets: [String], isInURL: Bool
    ) throws(TranslationError) {
        let pieces = part.split(separator: ":", omittingEmptySubsequences: false)
        let name = String(pieces[0])
        options.count += 1
        guard options.count <= Translation.mostOptions else {
            throw TranslationError(
                .invalid, name.excerpt,
                "there may be \(Translation.mostOptions) options, those of presets included")
        }
        let arguments = pieces.dropFirst().map(String.init)
        guard let option = ImgproxyOption.byName[name] else { throw Self.unknown(name, settings) }
        guard !option.isCommercial || settings.pro else { throw Self.unknown(name, settings) }
        if isInURL { try checkAllowed(option, name) }
        if option == .preset {
            for name in arguments { try apply(preset: name, to: &options, presets) }
            return
        }
        let reading = ImgproxyArguments(option: name, values: arguments)
        guard option.counts.contains(arguments.count) else {
            throw reading.error(
                "it has \(arguments.count) arguments; it takes \(option.counts.lowerBound) to \(option.counts.upperBound)"
            )
        }
        try options.set(option, reading)
    }

    private func apply(
        preset name: String, to options: inout ImgproxyOptions, _ presets: [String]
    ) throws(TranslationError) {
        guard let text = settings.presets[name] else {
            let hint = requestHint(for: name, among: settings.presets.keys)
            throw TranslationError(.invalid, "preset", "there is no preset '\(name.excerpt)'\(hint)")
        }
        try apply(preset: name, text, to: &options, presets)
    }

    /// Applies a preset's options; one inside itself is skipped.
    private func apply(
        preset name: String, _ text: String, to options: inout ImgproxyOptions, _ presets: [String]
    ) throws(TranslationError) {
        guard !presets.contains(name) else { return }
        for part in text.split(separator: "/") {
            try apply(part, to: &options, presets: presets + [name], isInURL: false)
        }
    }

    private func checkAllowed(_ option: ImgproxyOption, _ name: String) throws(TranslationError) {
        if option.isAboutLimits, !settings.securityOptions {
            throw TranslationError(.forbidden, name, "the setting securityOptions of the dialect allows it")
        }
        guard
            settings.allowedOptions.isEmpty
                || settings.allowedOptions.contains(where: { ImgproxyOption.byName[$0] == option })
        else { throw TranslationError(.forbidden, name, "it is not among the dialect's allowedOptions") }
    }

    private static func unknown(_ name: String, _ settings: Settings) -> TranslationError {
        if ImgproxyOption.byName[name]?.isCommercial == true {
            return TranslationError(
                .unsupported, name.excerpt,
                "of the commercial version; the setting pro of the dialect allows it")
        }
        if ImgproxyOption.untranslated.contains(name) {
            return TranslationError(.unsupported, name.excerpt, "it has no equivalent here")
        }
        let hint = suggestion(for: name, among: ImgproxyOption.byName.keys).map { "; \($0)" } ?? ""
        return TranslationError(.invalid, name.excerpt, "there is no such option\(hint)")
    }
}
