// SPDX-License-Identifier: Apache-2.0

/// How much larger a drawing becomes when its references are followed: ten elements that each use the one before ten times
/// draw ten thousand millions.
///
/// Knows as much of XML as tells elements, their names, `id`s and references; what it does not understand it counts as less.
struct DrawingWeight {
    private var elements: [Element] = []
    private var byID: [String: Int] = [:]

    private struct Element {
        let name: String
        var references: [String] = []
        var children: [Int] = []
    }

    /// Most elements that references may add: librsvg draws some 30,000 a second.
    static let limit = 50_000
    /// Elements that are looked up and not drawn again.
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

    /// Where a comment, a CDATA section or a declaration ends; nil for a tag.
    private static func skipped(_ rest: ArraySlice<UInt8>, in text: [UInt8]) -> Int? {
        for (opening, closing) in [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!", ">")]
        where rest.starts(with: opening.utf8) {
            let mark = Array(closing.utf8)
            var place = rest.startIndex
            while let found = text[place...].firstIndex(of: mark[0]) {
                if text[found...].starts(with: mark) { return found + mark.count }
                place = found + 1
            }
            return text.count
        }
        return nil
    }

    /// Where a tag's `>` stands, which may also occur between quotes.
    private static func tagEnd(_ text: [UInt8], from start: Int) -> Int {
        var quote: UInt8?
        for place in start..<text.count {
            let byte = text[place]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
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
            guard value.count <= Self.valueLimit else { continue }
            note(attribute, value, in: &element)
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
        } else if attribute.suffix(4).elementsEqual("href".utf8) {
            guard value.first == UInt8(ascii: "#") else { return }
            element.references.append(String(decoding: value.dropFirst(), as: UTF8.self))
        } else {
            // `url(#name)`, also within a style.
            for (index, part) in value.split(separator: UInt8(ascii: "#")).enumerated() where index > 0 {
                let id = part.prefix { $0 != UInt8(ascii: ")") && $0 != UInt8(ascii: "\"") }
                element.references.append(String(decoding: id, as: UTF8.self))
            }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Bytes of a value that is looked into: outlines are longer and refer to nothing.
    private static let valueLimit = 2_048

    // MARK: - Weighing

    /// Whether references add more elements than the limit.
    var isExcessive: Bool {
        var weights = [Int?](repeating: nil, count: elements.count)
        var isOpen = [Bool](repeating: false, count: elements.count)
        var total = 0
        for root in elements.indices where weights[root] == nil {
            // A stack of our own: a drawing may nest deeper than ours reaches.
            var stack = [root]
            while let top = stack.last {
                let targets = targets(of: top)
                if !isOpen[top] {
                    isOpen[top] = true
                    stack += targets.filter { weights[$0] == nil && !isOpen[$0] }
                    continue
                }
                stack.removeLast()
                // One that refers to itself counts as nothing there, as it is drawn.
                guard weights[top] == nil else { continue }
                weights[top] = min(Self.ceiling, targets.reduce(1) { $0 + (weights[$1] ?? 0) })
            }
        }
        for (index, element) in elements.enumerated() {
            total += references(of: element).reduce(0) { $0 + (weights[$1] ?? 0) }
            if total > Self.limit, weights[index] != nil { return true }
        }
        return false
    }

    /// Beyond it nobody needs to count on.
    private static let ceiling = 1 << 30

    private func targets(of index: Int) -> [Int] {
        elements[index].children + references(of: elements[index])
    }

    private func references(of element: Element) -> [Int] {
        element.references.compactMap { byID[$0] }.filter { !Self.paints.contains(elements[$0].name) }
    }
}
