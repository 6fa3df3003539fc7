// SPDX-License-Identifier: Apache-2.0

package import Primitives
/// The URLs of imgix's rendering API: `/photo.jpg?w=300&fit=crop&auto=format`.
package struct Imgix: Dialect {
    package static let name = "imgix"

    /// The settings of the dialect.
    package struct Settings: DialectSettings {
        package var base = ""
        package var keys: [String] = []
        package var lenient = false

        /// Creates the default settings.
        package init() {}

        package var secretFiles: [(setting: String, path: String)] { Self.secrets("keys", keys) }

        package static let settings = SettingTable<Self>("How URLs of imgix are read.") {
            Setting(
                "base", \.base,
                """
                The URL that the path is appended to, such as `https://bucket.example.org/`; without one
                the path is a percent-encoded URL, as at a web proxy source.
                """)
            Setting(
                "keys", \.keys, isSecret: true,
                """
                Files with the tokens of signed URLs, the text alone; without one no signature is
                needed.
                """)
            Setting(
                "lenient", \.lenient,
                """
                Whether unknown parameters and bad values are ignored, as imgix does, instead of
                refused.
                """)
        }
    }

    private let base: SourceBase?
    private let signature: ImgixSignature
    private let isLenient: Bool

    /// Creates the dialect.
    ///
    /// - Parameters:
    ///   - settings: those of its element of `dialects`.
    ///   - keys: the tokens.
    /// - Throws: the setting that is wrong, with why.
    package init(_ settings: Settings = Settings(), keys: [[UInt8]] = []) throws(TranslationError) {
        base = try SourceBase(settings.base, setting: "base")
        signature = ImgixSignature(tokens: keys)
        isLenient = settings.lenient
    }

    package func translate(_ target: DialectTarget) throws(TranslationError) -> Translation {
        var translation = Translation()
        let query = try signature.checked(target, isSigned: &translation.isSigned)
        var options = try ImgixOptions(query, Leniency(isLenient: isLenient))
        translation["url"] = try source(target.path)
        try options.write(to: &translation)
        translation.ignored = options.leniency.notes
        return translation
    }

    /// A URL whose time is over is 404 there.
    package func compatibleStatus(of status: Int, code: String) -> Int { status == 410 ? 404 : status }

    private func source(_ path: String) throws(TranslationError) -> String {
        if let base { return try base.joined(path, option: "path") }
        let rest = path.dropFirst()
        let url =
            String(rest).hasHTTPScheme
            ? PercentText.url(Array(rest.utf8)) : PercentText.url(PercentText.decoded(rest))
        guard url.hasHTTPScheme else {
            throw TranslationError(
                .invalid, "path", "must be a percent-encoded URL, since the dialect's setting 'base' is empty"
            )
        }
        return url
    }
}
