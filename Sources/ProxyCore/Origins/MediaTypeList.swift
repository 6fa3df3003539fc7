// SPDX-License-Identifier: Apache-2.0

/// The allowed media types of a response; an empty list allows all.
struct MediaTypeList: Sendable {
    private let types: [String]

    /// - Parameter texts: `type/subtype`, or `type/*`.
    init(_ texts: [String]) throws(OriginRuleError.Reason) {
        for text in texts {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            let isToken = parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { (0x21...0x7E).contains($0) && !",;".utf8.contains($0) }
            }
            guard parts.count == 2, isToken else {
                throw OriginRuleError.Reason("\"\(text)\" is no media type such as image/png or image/*")
            }
        }
        types = texts.map { $0.lowercased() }
    }

    /// Whether a response with this `Content-Type` is allowed; without the field only if all are.
    func allows(_ contentType: String?) -> Bool {
        guard !types.isEmpty else { return true }
        guard let contentType else { return false }
        let type = contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        return types.contains {
            $0 == "*/*" || $0 == type || $0.hasSuffix("/*") && type.hasPrefix($0.dropLast())
        }
    }
}
