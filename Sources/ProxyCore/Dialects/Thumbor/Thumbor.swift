// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The URLs of thumbor, and of imagor, which speaks nearly the same language:
/// `/SIGNATURE/300x200/smart/filters:quality(80)/SOURCE`.
package struct Thumbor: Dialect {
    package static let name = "thumbor"

    /// The settings, with thumbor's defaults.
    package struct Settings: DialectSettings {
        /// Whose URLs these are.
        enum Flavor: String, SettingValue, CaseIterable {
            case thumbor, imagor
        }

        /// The hash function of the signature.
        package enum Digest: String, SettingValue, CaseIterable {
            case sha1, sha256, sha512

            var function: HashFunction {
                switch self {
                case .sha1: .sha1
                case .sha256: .sha256
                case .sha512: .sha512
                }
            }
        }

        var flavor = Flavor.thumbor
        package var keys: [String] = []
        package var allowsUnsafe = false
        package var digest = Digest.sha1
        package var signatureLength = 0
        package var respectsOrientation = false
        package var autoWebP = false
        var defaultScheme = "http"
        package var watermarks: [String: String] = [:]
        package var lenient = false

        /// Creates the default settings.
        package init() {}

        package var secretFiles: [(setting: String, path: String)] { Self.secrets("keys", keys) }
        package var watermarkNames: [(setting: String, name: String)] { Self.named(in: watermarks) }

        package static let settings = SettingTable<Self>("How URLs of thumbor are read.") {
            Setting(
                "flavor", \.flavor,
                """
                `thumbor`, or `imagor` for its filters, its shares of the picture in crops, and its
                paddings.
                """)
            Setting(
                "keys", \.keys, isSecret: true,
                """
                Files with the security key (`SECURITY_KEY`, `IMAGOR_SECRET`); several for a change of
                keys.
                """)
            Setting(
                "allowsUnsafe", \.allowsUnsafe,
                "Whether `unsafe` stands in place of a signature (`ALLOW_UNSAFE_URL`, `IMAGOR_UNSAFE`).")
            Setting("digest", \.digest, "The signature's hash function (`IMAGOR_SIGNER_TYPE`).")
            Setting(
                "signatureLength", \.signatureLength, in: 0...128,
                """
                How many characters of the signature count (`IMAGOR_SIGNER_TRUNCATE`); 0 for all. A few
                could be guessed.
                """)
            Setting(
                "respectsOrientation", \.respectsOrientation,
                """
                Whether pictures are turned upright by their EXIF orientation (`RESPECT_ORIENTATION`);
                imagor always does.
                """)
            Setting(
                "autoWebP", \.autoWebP,
                "Whether `Accept` may choose WebP where the URL has no format (`AUTO_WEBP`).")
            Setting(
                "defaultScheme", \.defaultScheme,
                "The scheme of a source without one: `http`, or `https` as imagor has it.")
            Setting(
                "watermarks", \.watermarks,
                "The watermarks of the configuration by the URLs that `watermark()` has for them.")
            Setting(
                "lenient", \.lenient,
                """
                Whether filters that are unknown, have wrong arguments or no equivalent are skipped, as
                thumbor does, or refused. A watermark that is not configured is always refused.
                """)
        }
    }

    let settings: Settings
    /// One for each key.
    private let keys: [HMACKey]
    private var takesAnySignature = false

    /// Creates the dialect.
    ///
    /// - Parameters:
    ///   - settings: those of its element of `dialects`.
    ///   - keys: the bytes of the files that `settings.keys` names.
    package init(_ settings: Settings = Settings(), keys: [[UInt8]] = []) {
        self.settings = settings
        self.keys = keys.map { HMACKey(settings.digest.function, $0) }
    }

    package func withoutAccessChecks(at site: String?) -> Thumbor {
        var dialect = self
        dialect.takesAnySignature = true
        return dialect
    }

    package func translate(_ target: DialectTarget) throws(TranslationError) -> Translation {
        let (rest, isSigned) = try checked(target.path)
        let options = try ThumborPath(parsing: rest, flavor: settings.flavor)
        guard options.filters.count <= Translation.mostOptions else {
            throw TranslationError(.invalid, "filters", "there may be \(Translation.mostOptions) filters")
        }
        var plan = ThumborPlan(options, settings, now: target.now)
        let url = try sourceURL(options.source)
        var translation = try plan.translation(from: url)
        translation.readSource = url
        translation.isSigned = isSigned
        if options.isMeta { translation.answer = .facts }
        return translation
    }

    /// Of `meta`: the size after the work, and how it comes to that.
    package func facts(
        from information: JSONValue, for target: DialectTarget
    ) throws(TranslationError) -> JSONValue {
        let options = try ThumborPath(parsing: checked(target.path).rest, flavor: settings.flavor)
        let isUpright = settings.respectsOrientation || settings.flavor == .imagor
        let names = isUpright ? ("uprightWidth", "uprightHeight") : ("width", "height")
        guard let width = information.side(names.0), let height = information.side(names.1) else {
            return information
        }
        return ThumborFacts(ThumborPlan(options, settings, now: target.now), width: width, height: height)
            .json
    }

    /// Thumbor takes a wrong signature for a malformed URL.
    package func compatibleStatus(of status: Int, code: String) -> Int { status == 403 ? 400 : status }

    // MARK: - Signature

    /// What is behind the signature or `unsafe`, and whether it was a signature.
    private func checked(
        _ path: String
    ) throws(TranslationError) -> (rest: Substring, isSigned: Bool) {
        let pieces = path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard pieces.count == 2, !pieces[0].isEmpty else {
            throw TranslationError(
                .invalid, "", "a path is /SIGNATURE/… or /unsafe/…, and ends with the source")
        }
        guard !takesAnySignature else { return (pieces[1], false) }
        guard pieces[0] != "unsafe" else {
            guard settings.allowsUnsafe else {
                throw TranslationError(
                    .forbidden, "unsafe",
                    "only signed URLs are allowed, unless allowsUnsafe of the dialect is true")
            }
            return (pieces[1], false)
        }
        var isValid = false
        // Clients encode the `=` at its end now and then.
        let given = pieces[0].replacing("%3D", with: "=")
        for key in keys where MACText.areEqual(given, signature(of: pieces[1], by: key)) {
            isValid = true
        }
        guard isValid else {
            throw TranslationError(.signature, "signature", "does not fit the path and any of the keys")
        }
        return (pieces[1], true)
    }

    private func signature(of path: Substring, by key: HMACKey) -> String {
        let length = settings.signatureLength
        return MACText.text(of: key.code(for: path.utf8), isPadded: true, length: length > 0 ? length : nil)
    }

    // MARK: - Source

    /// The source with its scheme; it may be percent-encoded as a whole, and once more.
    private func sourceURL(_ raw: Substring) throws(TranslationError) -> String {
        guard !raw.isEmpty else {
            throw TranslationError(.invalid, "source", "is missing; options stand in front of it")
        }
        guard raw.first != "/" else {
            throw TranslationError(.invalid, "source", "begins with a slash: there is one too many")
        }
        let url = PercentText.url(PercentText.decoded(raw))
        if url.hasPrefix("http://") || url.hasPrefix("https://") { return url }
        let beginning = url.prefix { $0 != "/" }
        guard beginning.last != ":" else {
            throw TranslationError(
                .invalid, "source", "begins with http:// or https:// in lower case, or with a host")
        }
        return "\(settings.defaultScheme)://\(url)"
    }
}
