// SPDX-License-Identifier: Apache-2.0

package import Primitives
import URLs

/// The URLs of Next.js' image route, and of Vercel's: `/_next/image?url=%2Fphoto.jpg&w=640&q=75`.
package struct NextJS: Dialect {
    package static let name = "nextjs"

    /// The settings of the dialect, as `images` in `next.config.js` has them.
    package struct Settings: DialectSettings {
        package var base = ""
        package var remotePatterns: [String] = []
        package var deviceSizes = [640, 750, 828, 1_080, 1_200, 1_920, 2_048, 3_840]
        package var imageSizes = [16, 32, 48, 64, 96, 128, 256, 384]
        package var qualities: [Int] = []
        package var formats = ["image/webp"]
        package var lenient = false

        /// Creates the default settings.
        package init() {}

        package static let settings = SettingTable<Self>(
            "How URLs of the image optimizer of Next.js are read."
        ) {
            Setting(
                "base", \.base,
                """
                The URL that a path in `url` is appended to, such as `http://127.0.0.1:3000/`; without
                one only absolute URLs are sources.
                """)
            Setting(
                "remotePatterns", \.remotePatterns,
                """
                The absolute URLs that are allowed: patterns such as `https://*.example.org/images/*`,
                in which `*` stands for anything.
                """)
            Setting("deviceSizes", \.deviceSizes, "Widths for pictures as wide as the screen.")
            Setting("imageSizes", \.imageSizes, "Widths for smaller pictures.")
            Setting("qualities", \.qualities, "The qualities that are allowed; all where the list is empty.")
            Setting(
                "formats", \.formats,
                "The formats that are chosen by `Accept`, best first: `image/avif` or `image/webp`.")
            Setting(
                "lenient", \.lenient,
                "Whether unknown parameters are ignored, as Next.js does, instead of refused.")
        }
    }

    private var base: SourceBase?
    private var takesAnySource = false
    private let remotePatterns: [URLPattern]
    private let widths: Set<Int>
    private let qualities: Set<Int>
    private let format: String
    private let isLenient: Bool

    /// Creates the dialect; it has no signatures.
    ///
    /// - Throws: the setting that is wrong, with why.
    package init(_ settings: Settings = Settings(), keys: [[UInt8]] = []) throws(TranslationError) {
        base = try SourceBase(settings.base, setting: "base")
        remotePatterns = try Self.patterns(settings.remotePatterns)
        widths = Set(settings.deviceSizes + settings.imageSizes)
        qualities = Set(settings.qualities)
        let names = settings.formats.map { $0.hasPrefix("image/") ? $0.dropFirst(6) : $0[...] }
        guard names.allSatisfy({ $0 == "avif" || $0 == "webp" }) else {
            throw TranslationError(.invalid, "formats", "must be image/avif or image/webp")
        }
        format = names.isEmpty ? "source" : "auto:" + names.joined(separator: "+")
        isLenient = settings.lenient
    }

    private static func patterns(_ texts: [String]) throws(TranslationError) -> [URLPattern] {
        var patterns: [URLPattern] = []
        for text in texts {
            do throws(URLPattern.Invalid) {
                patterns.append(try URLPattern(text))
            } catch {
                throw TranslationError(.invalid, "remotePatterns", error.reason)
            }
        }
        return patterns
    }

    package func withoutAccessChecks(at site: String?) -> NextJS {
        var dialect = self
        dialect.base = base ?? site.map { SourceBase($0) }
        dialect.takesAnySource = true
        return dialect
    }

    private static let paths: Set<String> = ["/_next/image", "/_vercel/image"]
    private static let names: Set<String> = ["url", "w", "q"]

    package func translate(_ target: DialectTarget) throws(TranslationError) -> Translation {
        // `trailingSlash` in the configuration makes a redirect to the path with one.
        guard Self.paths.contains(target.path.hasSuffix("/") ? String(target.path.dropLast()) : target.path)
        else { throw TranslationError(.notFound, "", "the path is /_next/image") }
        var leniency = Leniency(isLenient: isLenient)
        let values = try values(of: DialectQuery(target.query), &leniency)
        let width = try number("w", values["w"])
        guard widths.contains(width) else {
            throw TranslationError(.invalid, "w", "must be one of deviceSizes or imageSizes")
        }
        let quality = try number("q", values["q"])
        guard (1...100).contains(quality), qualities.isEmpty || qualities.contains(quality) else {
            let allowed = qualities.isEmpty ? "from 1 to 100" : "one of qualities"
            throw TranslationError(.invalid, "q", "must be \(allowed)")
        }
        var translation = Translation()
        translation["url"] = try source(values["url"] ?? "")
        translation["transform"] = "resize:\(width)x"
        translation["format"] = format
        translation["quality"] = String(quality)
        translation.ignored = leniency.notes
        return translation
    }

    /// Whatever is wrong with a URL or its picture is 400 there.
    package func compatibleStatus(of status: Int, code: String) -> Int {
        [403, 415, 422].contains(status) ? 400 : status
    }

    private func values(
        of query: DialectQuery, _ leniency: inout Leniency
    ) throws(TranslationError) -> [String: String] {
        var values: [String: String] = [:]
        for item in query.items {
            guard Self.names.contains(item.name) else {
                // `dpl` is the deployment's number.
                if item.name != "dpl" { try leniency.ignoreOrThrow(item.name, "is no parameter") }
                continue
            }
            let value = item.rawValue.map {
                item.name == "url" ? PercentText.url(PercentText.decoded($0)) : String($0)
            }
            guard values.updateValue(value ?? "", forKey: item.name) == nil else {
                throw TranslationError(.invalid, item.name, "is given more than once")
            }
        }
        return values
    }

    private func number(_ name: String, _ text: String?) throws(TranslationError) -> Int {
        guard let text else { throw TranslationError(.invalid, name, "is missing") }
        guard let number = NumberText.integer(text) else {
            throw TranslationError(.invalid, name, "must be a whole number")
        }
        return number
    }

    private func source(_ text: String) throws(TranslationError) -> String {
        guard !text.isEmpty else { throw TranslationError(.invalid, "url", "is missing") }
        guard text.hasPrefix("/") else { return try remote(text) }
        guard !text.hasPrefix("//") else {
            throw TranslationError(.invalid, "url", "must be a path or an absolute URL with its scheme")
        }
        guard !Self.paths.contains(where: { text.hasPrefix($0) }) else {
            throw TranslationError(.invalid, "url", "is a URL of this route itself")
        }
        guard let base else {
            throw TranslationError(
                .forbidden, "url", "an absolute URL is needed, since the dialect's setting 'base' is empty")
        }
        return try base.joined(text, option: "url")
    }

    private func remote(_ text: String) throws(TranslationError) -> String {
        let url: SourceURL
        do throws(SourceURLError) {
            url = try SourceURL(parsing: text)
        } catch {
            throw TranslationError(.invalid, "url", "must be a path or an absolute URL")
        }
        guard !URLPattern.hidesDotSegment(url.path),
            takesAnySource || remotePatterns.contains(where: { $0.matches(url) })
        else { throw TranslationError(.forbidden, "url", "is none of remotePatterns") }
        return text
    }
}
