// SPDX-License-Identifier: Apache-2.0

package import Dialects
import HTTPServer
import Primitives
package import Request
import URLs

/// A path below which URLs of another image proxy are answered. A class: hits do not copy it.
package final class DialectRoute: Sendable {
    package let dialect: any Dialect
    /// What the path begins with, without a slash at its end; the rest begins with one.
    package let prefix: [UInt8]
    /// Whether errors have the other proxy's status, and its form if it has one.
    package let hasCompatibleErrors: Bool
    /// The field in which a key may stand in place of the target.
    let keyField: FieldName?

    /// The dialect's name.
    package var name: String { type(of: dialect).name }

    package init(dialect: any Dialect, prefix: String, hasCompatibleErrors: Bool) {
        self.dialect = dialect
        var bytes = Array(prefix.utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        self.prefix = bytes
        self.hasCompatibleErrors = hasCompatibleErrors
        keyField = dialect.keyField.flatMap { FieldName($0) }
    }

    /// The one of `routes` by which an operator's URL is read: where it is, if that is of the dialect; else the dialect's first.
    package static func route(
        of target: String, among routes: [DialectRoute], dialect: String
    ) -> DialectRoute? {
        let place = route(of: target, among: routes).flatMap { $0.name == dialect ? $0 : nil }
        return place ?? routes.first { $0.name == dialect }
    }

    /// Hot path: whether a target is below the path.
    package func matches(_ target: UnsafeRawBufferPointer) -> Bool {
        guard target.count > prefix.count, unsafe target[prefix.count] == UInt8(ascii: "/") else {
            return false
        }
        for index in prefix.indices where unsafe target[index] != prefix[index] { return false }
        return true
    }

    /// The route that answers a target; nil where that is `/`, which may be any proxy's, or nowhere.
    package static func route(of target: String, among routes: [DialectRoute]) -> DialectRoute? {
        let bytes = Array(target.utf8)
        let fitting = routes.filter { route in
            let isMatch = unsafe bytes.withUnsafeBytes { unsafe route.matches($0) }
            return isMatch && !route.prefix.isEmpty
        }
        return fitting.max { $0.prefix.count < $1.prefix.count }
    }

    /// Facts in the other proxy's form, as JSON.
    /// - Parameter information: what `/info` would answer.
    package func facts(
        _ information: [UInt8], for target: [UInt8], at now: Int64
    ) throws(ImageRequestError) -> [UInt8] {
        var parser = JSONParser(information)
        // Ignored: where it is no JSON; it has been written here.
        guard let json = try? parser.parse() else { return information }
        let target = try dialectTarget(target, hasBody: false, key: nil, at: now)
        do throws(TranslationError) {
            return Array((try dialect.facts(from: json, for: target).compact + "\n").utf8)
        } catch {
            throw ImageRequestError(error)
        }
    }

    private func dialectTarget(
        _ target: [UInt8], hasBody: Bool, key: String?, at now: Int64
    ) throws(ImageRequestError) -> DialectTarget {
        guard let text = String(validating: target[prefix.count...], as: UTF8.self) else {
            throw .notFound(reason: "the path is not UTF-8")
        }
        return DialectTarget(text, now: now, hasBody: hasBody, key: key)
    }

    /// What a target below the path means.
    /// - Parameter key: what the request has in `keyField`.
    package func translate(
        _ target: [UInt8], hasBody: Bool = false, key: String? = nil, at now: Int64
    ) throws(ImageRequestError) -> Translation {
        let target = try dialectTarget(target, hasBody: hasBody, key: key, at: now)
        do throws(TranslationError) {
            return try dialect.translate(target)
        } catch {
            throw ImageRequestError(error)
        }
    }

    /// An error as the other proxy's clients expect it; nil where errors are ours.
    func compatible(_ document: ProblemDocument) -> CompatibleError? {
        guard hasCompatibleErrors else { return nil }
        let status = dialect.compatibleStatus(of: document.status, code: document.code)
        let json = dialect.compatibleError(document.detail ?? document.title, status: status)
        return CompatibleError(status: status, json: json.map { Array(($0.compact + "\n").utf8) })
    }

    /// Reads a target as a request for an image, or for facts about one.
    package func read(
        _ target: [UInt8], hasBody: Bool = false, key: String? = nil, by parser: ImageRequestParser,
        at now: Int64, dpr: ImageRequestParser.ScreenHint?, accept: () -> AcceptClass
    ) throws(ImageRequestError) -> ImageRequest {
        let translation = try translate(target, hasBody: hasBody, key: key, at: now)
        let query = QueryString(items: translation.parameters)
        var request: ImageRequest
        do throws(ImageRequestError) {
            request =
                translation.answer == .facts
                ? try parser.parseInformation(translated: query, isSigned: translation.isSigned, at: now)
                : try parser.parse(
                    translated: query, isSigned: translation.isSigned, at: now, dpr: dpr, accept: accept)
        } catch {
            throw error.naming(translation.readSource)
        }
        request.delivery.isPermittedByField = key != nil
        request.delivery.namesSize = dialect.namesSize
        request.delivery.isDataURL = translation.answer == .dataURL
        request.delivery.redirect = try translation.redirect.map { (option) throws(ImageRequestError) in
            try redirect(by: option, parser)
        }
        return request
    }

    /// The redirect target: only a URL that is a permitted source, too, so that this is no open redirect.
    private func redirect(
        by option: QueryItem, _ parser: ImageRequestParser
    ) throws(ImageRequestError) -> SourceURL {
        // Ignored: what is wrong with the URL; the client sees which option it is.
        guard let url = try? SourceURL(parsing: option.value), parser.allows(url) else {
            throw .dialectOptionForbidden(
                option: option.name, reason: "security.sources does not allow to redirect there")
        }
        return url
    }
}

/// An error in the form of another proxy.
struct CompatibleError {
    let status: Int
    /// The body; nil for a problem document.
    let json: [UInt8]?
}

extension ImageRequestError {
    /// The error of a URL that has no translation.
    package init(_ error: TranslationError) {
        switch error.kind {
        case .invalid, .unsupported: self = .untranslated(option: error.option, reason: error.reason)
        case .signature: self = .dialectSignature(reason: "'\(error.option)': \(error.reason)")
        case .forbidden: self = .dialectOptionForbidden(option: error.option, reason: error.reason)
        case .expired: self = .urlExpired
        case .notFound: self = .notFound(reason: error.reason)
        }
    }

    /// The same with what was read as the source, if it is about that.
    fileprivate func naming(_ source: String?) -> ImageRequestError {
        guard let source else { return self }
        return switch self {
        case .invalidURL, .unsupportedScheme, .sourceForbidden: .ofSource(self, source)
        default: self
        }
    }
}
