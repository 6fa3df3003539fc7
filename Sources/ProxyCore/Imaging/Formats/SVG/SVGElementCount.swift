// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The number of elements of a drawing when its references are followed: ten elements that each use the one
/// before ten times draw ten thousand million.
///
/// Parses only elements, their names, `id`s and references; anything else counts as less.
struct SVGElementCount {
    private var elements: [Element] = []
    private var byID: [String: Int] = [:]
    /// The number of pixels of all pictures that it contains.
    private(set) var embeddedPixels = 0
    /// Whether it contains anything but an allowed picture, or has a reference in a form that is not
    /// analysed.
    private(set) var isOpaque = false

    private struct Element {
        let name: String
        var references: [String] = []
        var children: [Int] = []
        /// The cost of drawing it alone; one element is 1.
        var weight = 1
    }

    /// The maximum number of elements that references may add: librsvg draws about 30,000 a second.
    static let limit = 50_000
    /// The number of a picture's pixels that cost as much as an element.
    private static let pixelsPerElement = 2_000
    /// Elements that are evaluated but not drawn again.
    private static let paints: Set<String> = ["linearGradient", "radialGradient", "filter", "solidColor"]

    /// Reads a drawing; O(n).
    init(_ text: [UInt8]) {
        var open: [Int] = []
        var place = 0
        while let start = text[place...].firstIndex(of: UInt8(ascii: "<")), start + 1 < text.count {
            let rest = text[(start + 1)...]
            if let end = Self.skipped(rest, in: text) {
                place = end
                continue
            }
            let end = Self.tagEnd(text, from: start + 1)
            if text[start + 1] == UInt8(ascii: "/") {
                _ = open.popLast()
            } else {
                let index = add(text[start + 1..<end])
                if let parent = open.last { elements[parent].children.append(index) }
                if text[end - 1] != UInt8(ascii: "/") { open.append(index) }
            }
            place = min(end + 1, text.count)
        }
    }

    /// The end of a comment, a CDATA section or a declaration; nil for a tag.
    private static func skipped(_ rest: ArraySlice<UInt8>, in text: [UInt8]) -> Int? {
        for (opening, closing) in [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")]
        where rest.starts(with: opening.utf8) {
            let mark = Array(closing.utf8)
            var place = rest.startIndex
            while let found = text[place...].firstIndex(of: mark[0]) {
                if text[found...].starts(with: mark) { return found + mark.count }
                place = found + 1
            }
            return text.count
        }
        // A doctype's internal declarations are read like others.
        return rest.first == UInt8(ascii: "!")
            ? min(tagEnd(text, from: rest.startIndex, or: UInt8(ascii: "[")) + 1, text.count) : nil
    }

    /// The position of a tag's `>`, which quotes may contain, too, or of its other end.
    private static func tagEnd(_ text: [UInt8], from start: Int, or other: UInt8? = nil) -> Int {
        var quote: UInt8?
        for place in start..<text.count {
            let byte = text[place]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") || byte == other {
                return place
            }
        }
        return text.count
    }

    private mutating func add(_ tag: ArraySlice<UInt8>) -> Int {
        let name = tag.prefix { !Self.isSpace($0) && $0 != UInt8(ascii: "/") }
        let local = name.split(separator: UInt8(ascii: ":")).last ?? []
        var element = Element(name: String(decoding: local, as: UTF8.self))
        var rest = tag[name.endIndex...]
        while let quote = rest.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }) {
            let attribute = rest[..<quote].filter { !Self.isSpace($0) && $0 != UInt8(ascii: "=") }
            let value = rest[(quote + 1)...].prefix { $0 != rest[quote] }
            rest = rest[min(value.endIndex + 1, rest.endIndex)...]
            if attribute.suffix(4).elementsEqual("href".utf8) {
                note(reference: value, in: &element)
            } else if Self.hasEncodedReference(value) {
                isOpaque = true
            } else if value.count <= Self.valueLimit {
                note(attribute, value, in: &element)
            }
        }
        elements.append(element)
        return elements.count - 1
    }

    private mutating func note(
        _ attribute: [UInt8], _ value: ArraySlice<UInt8>, in element: inout Element
    ) {
        if attribute.elementsEqual("id".utf8) {
            let id = String(decoding: value, as: UTF8.self)
            byID[id] = byID[id] ?? elements.count
        } else {
            // `url(#name)`, also within a style.
            for (index, part) in value.split(separator: UInt8(ascii: "#")).enumerated() where index > 0 {
                let id = part.prefix { $0 != UInt8(ascii: ")") && $0 != UInt8(ascii: "\"") }
                element.references.append(String(decoding: id, as: UTF8.self))
            }
        }
    }

    /// Adds a reference to a whole element, or to a picture in the drawing itself.
    private mutating func note(reference value: ArraySlice<UInt8>, in element: inout Element) {
        guard let target = Self.resolved(value) else {
            isOpaque = true
            return
        }
        if target.first == UInt8(ascii: "#") {
            element.references.append(String(decoding: target.dropFirst(), as: UTF8.self))
        } else if EmbeddedPicture.isHeld(by: target), element.name != "a", element.name != "script" {
            guard let picture = EmbeddedPicture(target) else {
                isOpaque = true
                return
            }
            // An area far beyond any limit needs no exact sum.
            embeddedPixels = min(Self.ceiling * 8, embeddedPixels + min(Self.ceiling, picture.pixels))
            element.weight += min(Self.ceiling, picture.pixels) / Self.pixelsPerElement
        }
    }

    /// Whether a value contains a reference written with character references.
    private static func hasEncodedReference(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.contains(UInt8(ascii: "&")), value.contains(UInt8(ascii: "(")) else { return false }
        let text = String(decoding: value, as: UTF8.self)
        return text.contains("&#") && text.contains("url")
    }

    /// A reference with its character references resolved and without line ends; nil if it contains entities.
    private static func resolved(_ value: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(value.count)
        var rest = value
        while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += rest[..<mark]
            rest = rest[(mark + 1)...]
            let name = String(decoding: rest.prefix(12).prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard let scalar = xmlCharacter(named: name) else { return nil }
            result += Array(String(Character(scalar)).utf8)
            rest = rest.dropFirst(name.utf8.count + 1)
        }
        result += rest
        let start = result.firstIndex { $0 > 0x20 } ?? result.endIndex
        result.removeSubrange(..<start)
        result.removeAll { (0x09...0x0D).contains($0) }
        return result
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// The maximum length of a value that is analysed: path data is longer and contains no reference.
    private static let valueLimit = 2_048

    // MARK: - Sum

    /// Whether references add more elements than the limit.
    var isExcessive: Bool {
        var weights = [Int?](repeating: nil, count: elements.count)
        var isOpen = [Bool](repeating: false, count: elements.count)
        var total = 0
        for root in elements.indices where weights[root] == nil {
            // An explicit stack: a drawing may nest deeper than the thread's stack allows.
            var stack = [root]
            while let top = stack.last {
                let targets = targets(of: top)
                if !isOpen[top] {
                    isOpen[top] = true
                    stack += targets.filter { weights[$0] == nil && !isOpen[$0] }
                    continue
                }
                stack.removeLast()
                // An element that refers to itself counts as nothing there, and is not drawn there.
                guard weights[top] == nil else { continue }
                weights[top] = min(
                    Self.ceiling, targets.reduce(elements[top].weight) { $0 + (weights[$1] ?? 0) })
            }
        }
        for (index, element) in elements.enumerated() {
            total += references(of: element).reduce(0) { $0 + (weights[$1] ?? 0) }
            if total > Self.limit, weights[index] != nil { return true }
        }
        return false
    }

    /// The maximum sum; larger ones are not counted.
    private static let ceiling = 1 << 30

    private func targets(of index: Int) -> [Int] {
        elements[index].children + references(of: elements[index])
    }

    private func references(of element: Element) -> [Int] {
        element.references.compactMap { byID[$0] }.filter { !Self.paints.contains(elements[$0].name) }
    }
}
