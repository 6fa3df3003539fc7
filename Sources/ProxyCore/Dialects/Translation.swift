// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// What a URL of another image proxy means: parameters of `/img`.
package struct Translation: Sendable, Hashable {
    /// What is answered.
    package enum Answer: Sendable, Hashable {
        case picture
        /// The picture as the text of a data URL (RFC 2397).
        case dataURL
        /// Facts about the picture, as JSON.
        case facts
    }

    /// The parameters, each at most once.
    package var parameters: [QueryItem] = []
    /// Whether the dialect's URL has a valid signature.
    package var isSigned = false
    package var answer = Answer.picture
    /// Where the client is sent when the source fails: a URL that is a source itself, with the option that says so; nil
    /// for an error.
    package var redirect: QueryItem?
    /// What was read as the source, for errors about it; nil where settings complete it, or it is
    /// unambiguous.
    package var readSource: String?
    /// The maximum number of options of a URL: they are read on an event loop.
    static let mostOptions = 200

    /// The options that have no effect here, with why; for explanations.
    package var ignored: [String] = []

    /// The value of a parameter; setting nil removes it.
    package subscript(name: String) -> String? {
        get { parameters.first { $0.name == name }?.value }
        set {
            let place = parameters.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let value?): parameters[place].value = value
            case (let place?, nil): parameters.remove(at: place)
            case (nil, let value?): parameters.append(QueryItem(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The target with the same meaning: `/img?` or `/info?` and the parameters, encoded. The latter has no transform: facts
    /// about a result are answered to the other proxy's URL alone.
    package var target: String {
        let used = answer == .facts ? parameters.filter { Self.ofFacts.contains($0.name) } : parameters
        let query = used.map { parameter in
            let value = parameter.value.utf8.percentEncoded { $0.isUnreserved || Self.plain.contains($0) }
            return "\(parameter.name)=\(value)"
        }
        return (answer == .facts ? "/info?" : "/img?") + query.joined(separator: "&")
    }

    private static let ofFacts = ["url", "url64", "expires", "tag"]

    /// What a query can hold beside unreserved characters (RFC 3986 §3.4), but for what would be read otherwise.
    private static let plain = Array(":,/@=*()!".utf8)
}
