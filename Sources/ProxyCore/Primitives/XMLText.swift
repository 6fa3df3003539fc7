// SPDX-License-Identifier: Apache-2.0

/// The parts of an XML document of a service of AWS that are read: elements without attributes.
package struct XMLText: Sendable {
    private let text: Substring

    /// Wraps a document, or a part of one.
    package init(_ text: Substring) { self.text = text }

    /// The text of the first element of a name; nil if there is none.
    package func element(_ name: String) -> String? {
        elements(name, atMost: 1).first.map { String($0.text) }
    }

    /// Whether the end of an element is all that comes last, but for blanks and line ends.
    package func ends(_ name: String) -> Bool {
        text.reversed().drop { $0.isWhitespace }.starts(with: "</\(name)>".reversed())
    }

    /// The contents of all elements of a name.
    package func elements(_ name: String, atMost limit: Int = .max) -> [XMLText] {
        var found: [XMLText] = []
        var rest = text
        while found.count < limit, let start = rest.firstRange(of: "<\(name)>"),
            let end = rest[start.upperBound...].firstRange(of: "</\(name)>")
        {
            found.append(XMLText(rest[start.upperBound..<end.lowerBound]))
            rest = rest[end.upperBound...]
        }
        return found
    }
}

/// The character of a reference such as `#100` or `amp`, without its `&` and `;` (XML 1.0 §4.1, §4.6).
package func xmlCharacter(named name: String) -> Unicode.Scalar? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    case _ where name.hasPrefix("#"):
        let isHexadecimal = name.hasPrefix("#x")
        return UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
            .flatMap(Unicode.Scalar.init)
    default: return nil
    }
}
