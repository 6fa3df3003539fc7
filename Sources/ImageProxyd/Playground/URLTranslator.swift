// SPDX-License-Identifier: Apache-2.0

import Dialects
import Primitives
import Request

/// Says what a URL of another image proxy means here, without asking any origin.
struct URLTranslator: Sendable {
    /// What a URL means, and by whose rules.
    struct Result {
        let dialect: String
        let translation: Translation

        var json: JSONValue {
            [
                "dialect": .string(dialect), "target": .string(translation.target),
                "ignored": .strings(translation.ignored),
            ]
        }
    }

    /// The answer for a URL that has the form of no other proxy's.
    static let none: JSONValue = ["dialect": .null, "target": .null, "ignored": .array([])]

    private let configured: [(name: String, route: ForeignRoute)]
    private let usesSettings: Bool

    /// - Parameters:
    ///   - configured: the dialects in the settings.
    ///   - usesSettings: whether their settings are used. They have secrets that a translation tells, such as the
    ///     sources in encrypted URLs and the origin's address, so they are for operators.
    init(configured: [ForeignRoute], usesSettings: Bool) {
        self.configured = configured.map { (Swift.type(of: $0.dialect).name, $0) }
        self.usesSettings = usesSettings
    }

    /// - Parameter dialect: a dialect's name; nil for the one that the URL's form suggests.
    /// - Returns: nil where the form suggests none: it is no other proxy's URL, as far as is known here.
    func translate(_ url: String, dialect: String?) throws(AdminFailure) -> Result? {
        guard let request = LoggedRequest(url: url) else {
            throw AdminQuery.invalid("url", "is neither a path nor an http or https URL with one")
        }
        guard let name = dialect ?? DialectGuess.dialect(of: url) else { return nil }
        let known = configured.first { $0.name == name }?.route
        guard let route = usesSettings ? known ?? usual(name, request) : usual(name, request) else {
            let names = DialectRegistry.all.map { $0.name }.joined(separator: ", ")
            throw AdminQuery.invalid("dialect", "must be one of \(names)")
        }
        do throws(ImageRequestError) {
            return Result(dialect: name, translation: try route.explanation(of: request))
        } catch {
            throw .request(usesSettings || known == nil ? error : error.withoutSettings)
        }
    }

    /// A dialect by its default settings, which take any signature and any source.
    private func usual(_ name: String, _ request: LoggedRequest) -> ForeignRoute? {
        // Lost: nothing; default settings are valid, and name no file.
        guard DialectRegistry.named(name) != nil, let usual = try? DialectConfiguration(name: name),
            let dialect = try? usual.dialect(reading: { _, _ in nil })
        else { return nil }
        return ForeignRoute(
            dialect: dialect.unguarded(at: request.site), prefix: "/", hasOwnErrors: false)
    }
}

extension ImageRequestError {
    /// The same, with where the URL is read by the daemon's settings.
    fileprivate var withoutSettings: ImageRequestError {
        let advice =
            "; by the settings of this daemon's dialects, it is read at /translate of the admin listener alone"
        return switch self {
        case .untranslated(let option, let reason): .untranslated(option: option, reason: reason + advice)
        case .foreignOptionForbidden(let option, let reason):
            .foreignOptionForbidden(option: option, reason: reason + advice)
        default: self
        }
    }
}
