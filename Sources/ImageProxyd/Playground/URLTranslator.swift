// SPDX-License-Identifier: Apache-2.0

import Answering
import Dialects
import Primitives
import Request

/// Says what a URL of another image proxy means here, without asking any origin.
struct URLTranslator: Sendable {
    /// What a URL means, and by whose rules.
    struct Result {
        let dialect: String
        let target: String
        var ignored: [String] = []

        var json: JSONValue {
            ["dialect": .string(dialect), "target": .string(target), "ignored": .strings(ignored)]
        }
    }

    /// The answer for a URL that has the form of no other proxy's.
    static let none: JSONValue = ["dialect": .null, "target": .null, "ignored": .array([])]

    private let configured: [DialectRoute]
    private let usesSettings: Bool

    /// - Parameters:
    ///   - configured: the dialects in the settings.
    ///   - usesSettings: whether their settings are used. A translation shows their secrets, such as the
    ///     sources in encrypted URLs and the origin's address, so they are for operators.
    init(configured: [DialectRoute], usesSettings: Bool) {
        self.configured = configured
        self.usesSettings = usesSettings
    }

    /// - Parameter dialect: a dialect's name; nil for the one that the URL's form suggests.
    /// - Returns: nil where the form suggests none: it is no other proxy's URL, as far as is known here.
    func translate(_ url: String, dialect: String?) throws(AdminFailure) -> Result? {
        guard let request = LoggedRequest(url: url) else {
            throw AdminQuery.invalid("url", "is neither a path nor an http or https URL with one")
        }
        let place = usesSettings ? DialectRoute.route(of: request.target, among: configured)?.name : nil
        if dialect == nil, place == nil, let own = Self.queryForm(of: request) { return own }
        guard let name = dialect ?? place ?? DialectGuess.dialect(of: url) else { return nil }
        let known = DialectRoute.route(of: request.target, among: configured, dialect: name)
        guard let route = (usesSettings ? known : nil) ?? Self.usual(name, at: request.site) else {
            let names = DialectRegistry.names.joined(separator: ", ")
            throw AdminQuery.invalid("dialect", "must be one of \(names)")
        }
        do throws(ImageRequestError) {
            let translation = try route.explanation(of: request)
            return Result(dialect: name, target: translation.target, ignored: translation.ignored)
        } catch {
            throw .request(usesSettings || known == nil ? error : error.withoutSettings)
        }
    }

    /// A URL of this proxy with its parameters in the path, in the other form; nil for what is none.
    static func queryForm(of request: LoggedRequest) -> Result? {
        guard request.target.utf8.starts(with: PathForm.prefix),
            // Ignored: why it is no such URL; it may be a picture's.
            let query = try? PathForm.query(of: Array(request.target.utf8))
        else { return nil }
        let target = String(decoding: query, as: UTF8.self)
        // Other sites have pictures below /img/, too; a source is a whole URL.
        guard target.contains("url64=aHR0c") || target.contains("://") || target.contains("%3A%2F%2F") else {
            return nil
        }
        return Result(dialect: "imageproxyd", target: target)
    }

    /// A dialect by its default settings, which take any signature and any source.
    /// - Parameter site: where the URL is from, if that is known.
    static func usual(_ name: String, at site: String?) -> DialectRoute? {
        // Ignored: nothing; default settings are valid, and name no file.
        guard DialectRegistry.named(name) != nil, let usual = try? DialectConfiguration(name: name),
            let dialect = try? usual.dialect(reading: { _, _ in nil })
        else { return nil }
        return DialectRoute(
            dialect: dialect.withoutAccessChecks(at: site), prefix: "/", hasCompatibleErrors: false)
    }
}

extension ImageRequestError {
    /// The same, with where the URL is read by the daemon's settings.
    fileprivate var withoutSettings: ImageRequestError {
        let advice =
            ". This page does not know the settings of the daemon's dialects, such as their prefixes; /translate of the admin listener does"
        return switch self {
        case .untranslated(let option, let reason): .untranslated(option: option, reason: reason + advice)
        case .dialectOptionForbidden(let option, let reason):
            .dialectOptionForbidden(option: option, reason: reason + advice)
        default: self
        }
    }
}
