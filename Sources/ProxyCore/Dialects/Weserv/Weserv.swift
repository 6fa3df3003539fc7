// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The URLs of weserv, as of images.weserv.nl and wsrv.nl: `/?url=example.org/a.jpg&w=300&output=webp`.
package struct Weserv: Dialect {
    package static let name = "weserv"

    /// The settings of the dialect.
    package struct Settings: DialectSettings {
        package var lenient = false

        /// Creates the default settings.
        package init() {}

        package static let settings = SettingTable<Self>("How URLs of weserv are read.") {
            Setting(
                "lenient", \.lenient,
                """
                Whether unknown parameters and bad values are ignored, as weserv does, instead of
                refused.
                """)
        }
    }

    private let isLenient: Bool

    /// Creates the dialect; it has no signatures.
    package init(_ settings: Settings = Settings(), keys: [[UInt8]] = []) {
        isLenient = settings.lenient
    }

    package func translate(_ target: DialectTarget) throws(TranslationError) -> Translation {
        var options = try WeservOptions(target.query, Leniency(isLenient: isLenient))
        var translation = Translation()
        let url = try source(options["url"] ?? "")
        translation["url"] = url
        translation.readSource = url
        let operations = try options.geometry() + options.effects()
        if !operations.isEmpty { translation["transform"] = operations.joined(separator: ",") }
        try options.writeOutput(to: &translation)
        translation.ignored = options.leniency.notes
        return translation
    }

    /// Any failure of the source is 404 there.
    package func compatibleStatus(of status: Int, code: String) -> Int {
        [410, 415, 422, 502, 504].contains(status) ? 404 : status
    }

    /// The source's URL; `http` where it names no scheme.
    private func source(_ text: String) throws(TranslationError) -> String {
        guard let url = Self.url(text) else {
            throw TranslationError(
                .invalid, "url", text.isEmpty ? "is missing" : "must be a host and a path, or an http URL")
        }
        return url
    }

    /// Completes a URL; nil for one with another scheme or without a host.
    static func url(_ text: String) -> String? {
        guard !text.hasHTTPScheme else {
            // Slashes in front of the host are left out.
            let scheme = text.prefix(text.prefix(5).lowercased() == "https" ? 8 : 7)
            return String(scheme + text[scheme.endIndex...].drop { $0 == "/" })
        }
        let text = text.hasPrefix("//") ? text[...] : text.drop { $0 == "/" }
        // A name before a colon is a scheme unless a port follows.
        let authority = text.prefix { !"/?#".contains($0) }
        let port = authority.split(separator: ":", maxSplits: 1).dropFirst().first
        let isPort = port?.utf8.allSatisfy(\.isASCIIDigit) ?? !authority.hasSuffix(":")
        guard !authority.isEmpty, isPort || authority.hasPrefix("[") else { return nil }
        return "http://" + text
    }
}

extension Weserv {
    /// Facts as weserv's `output=json` has them: the source's format, and the result's size, where it follows from
    /// the requested size alone.
    package func facts(
        from information: JSONValue, for target: DialectTarget
    ) throws(TranslationError) -> JSONValue {
        var options = try WeservOptions(target.query, Leniency(isLenient: isLenient))
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONValue.Member(name: name, value: value)) }
        }
        add("format", information["format"])
        // Frames number no more than pixels of a side.
        if let width = information.side("uprightWidth"), let height = information.side("uprightHeight"),
            let all = information.side("frames"),
            let size = try options.resultSize(of: (width, height))
        {
            // Frames stand below each other there.
            let asked = try options.frameCount()
            add("width", .integer(size.width))
            add("height", .integer(size.height * (asked == -1 ? all : max(1, min(asked, all)))))
        }
        add("space", information["colorSpace"])
        add("hasProfile", information["profile"])
        add("hasAlpha", information["alpha"])
        add("orientation", information["orientation"])
        return .object(members)
    }
}
