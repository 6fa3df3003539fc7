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

    private let routes: [(name: String, route: ForeignRoute)]

    /// - Parameter configured: dialects whose settings are used. They have secrets that a translation tells, such as
    ///   the sources in encrypted URLs, so they are for operators.
    init(configured: [ForeignRoute]) {
        routes = DialectRegistry.all.compactMap { type in
            if let route = configured.first(where: { Swift.type(of: $0.dialect) == type }) {
                return (type.name, route)
            }
            // Lost: nothing; default settings are valid, and name no file.
            guard let usual = try? DialectConfiguration(name: type.name),
                let dialect = try? usual.dialect(reading: { _, _ in nil })
            else { return nil }
            return (type.name, ForeignRoute(dialect: dialect.unguarded, prefix: "/", hasOwnErrors: false))
        }
    }

    /// - Parameter dialect: a dialect's name; nil for the one that the URL's form suggests.
    /// - Returns: nil where the form suggests none: it is no other proxy's URL, as far as is known here.
    func translate(_ url: String, dialect: String?) throws(AdminFailure) -> Result? {
        guard let request = LoggedRequest(url: url) else {
            throw AdminQuery.invalid("url", "is neither a path nor an http or https URL with one")
        }
        guard let name = dialect ?? DialectGuess.dialect(of: url) else { return nil }
        guard let route = routes.first(where: { $0.name == name })?.route else {
            let names = routes.map(\.name).joined(separator: ", ")
            throw AdminQuery.invalid("dialect", "must be one of \(names)")
        }
        do throws(ImageRequestError) {
            return Result(dialect: name, translation: try route.explanation(of: request))
        } catch {
            throw .request(error)
        }
    }
}
