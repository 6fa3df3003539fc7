// SPDX-License-Identifier: Apache-2.0

/// Reads text exposition strictly, by the grammar of its format; anything out of order is an error.
struct ExpositionParser {
    struct Family: Equatable {
        var name: String
        var help = ""
        var type = ""
        var unit: String?
        var samples: [Sample] = []
    }

    struct Sample: Equatable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    let isOpenMetrics: Bool
    private var families: [Family] = []
    private var isEnded = false

    static func parse(_ text: String, openMetrics: Bool) throws -> [Family] {
        var parser = ExpositionParser(isOpenMetrics: openMetrics)
        guard text.hasSuffix("\n") else { throw Violation(description: "the last line has no end") }
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            try parser.read(String(line))
        }
        guard parser.isEnded == openMetrics else { throw Violation(description: "# EOF") }
        for family in parser.families { try parser.check(family) }
        return parser.families
    }

    private init(isOpenMetrics: Bool) {
        self.isOpenMetrics = isOpenMetrics
    }

    private mutating func read(_ line: String) throws {
        if isEnded { throw Violation(description: "a line after # EOF") }
        if line == "# EOF", isOpenMetrics {
            isEnded = true
        } else if line.hasPrefix("# HELP ") {
            let parts = line.dropFirst(7).split(separator: " ", maxSplits: 1).map(String.init)
            guard !families.contains(where: { $0.name == parts[0] }) else {
                throw Violation(description: "\(parts[0]) begins twice")
            }
            families.append(Family(name: parts[0], help: parts[1]))
        } else if line.hasPrefix("# TYPE ") || line.hasPrefix("# UNIT ") {
            try readDescriptor(line)
        } else {
            try readSample(line)
        }
    }

    private mutating func readDescriptor(_ line: String) throws {
        let parts = line.split(separator: " ").map(String.init)
        guard parts.count == 4, var family = families.last, family.name == parts[2], family.samples.isEmpty
        else {
            throw Violation(description: "misplaced: \(line)")
        }
        switch parts[1] {
        case "TYPE" where family.type.isEmpty: family.type = parts[3]
        case "UNIT" where isOpenMetrics && family.unit == nil: family.unit = parts[3]
        default: throw Violation(description: "twice or not allowed: \(line)")
        }
        families[families.count - 1] = family
    }

    private mutating func readSample(_ line: String) throws {
        var rest = Substring(line)
        let name = String(
            rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") })
        guard let first = name.first, !first.isNumber else {
            throw Violation(description: "no name: \(line)")
        }
        rest = rest.dropFirst(name.count)
        let labels = try readLabels(&rest)
        guard rest.first == " ", let value = Self.number(rest.dropFirst()) else {
            throw Violation(description: "no value: \(line)")
        }
        guard !families.isEmpty else { throw Violation(description: "a sample without family: \(line)") }
        families[families.count - 1].samples.append(Sample(name: name, labels: labels, value: value))
    }

    private static func number(_ text: Substring) -> Double? {
        text == "+Inf" ? .infinity : text == "-Inf" ? -.infinity : Double(text)
    }

    private func readLabels(_ rest: inout Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        guard rest.first == "{" else { return labels }
        repeat {
            rest = rest.dropFirst()
            let name = String(rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
            rest = rest.dropFirst(name.count)
            guard !name.isEmpty, rest.hasPrefix("=\"") else { throw Violation(description: "label: \(rest)") }
            rest = rest.dropFirst(2)
            guard labels.updateValue(try readQuoted(&rest), forKey: name) == nil else {
                throw Violation(description: "label \(name) twice")
            }
        } while rest.first == ","
        guard rest.first == "}" else { throw Violation(description: "labels not closed: \(rest)") }
        rest = rest.dropFirst()
        return labels
    }

    private func readQuoted(_ rest: inout Substring) throws -> String {
        var value = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return value
            case "\\":
                switch rest.popFirst() {
                case "n": value += "\n"
                case "\\": value += "\\"
                case "\"": value += "\""
                default: throw Violation(description: "unknown escape")
                }
            default: value.append(character)
            }
        }
        throw Violation(description: "string not closed")
    }

    // MARK: - What a family must be as a whole

    private func check(_ family: Family) throws {
        let suffixes: [String] =
            switch family.type {
            case "counter": [isOpenMetrics ? "_total" : ""]
            case "gauge", "unknown": [""]
            case "histogram": ["_bucket", "_sum", "_count"]
            default: throw Violation(description: "\(family.name) has type \(family.type)")
            }
        let names = Set(suffixes.map { family.name + $0 })
        guard family.samples.allSatisfy({ names.contains($0.name) }) else {
            throw Violation(description: "\(family.name) holds a stranger")
        }
        let series = Set(family.samples.map { "\($0.name)\($0.labels.sorted { $0.key < $1.key })" })
        guard series.count == family.samples.count else {
            throw Violation(description: "\(family.name) has a series twice")
        }
        if let unit = family.unit, !family.name.hasSuffix("_" + unit) {
            throw Violation(description: "\(family.name) is not in \(unit)")
        }
        if family.type == "histogram" { try checkBuckets(family) }
    }

    private func checkBuckets(_ family: Family) throws {
        var last: [[String: String]: (bound: Double, count: Double)] = [:]
        for sample in family.samples {
            var labels = sample.labels
            if sample.name.hasSuffix("_bucket") {
                guard let text = labels.removeValue(forKey: "le"), let bound = Self.number(Substring(text))
                else {
                    throw Violation(description: "a bucket of \(family.name) without le")
                }
                if let previous = last[labels], previous.bound >= bound || previous.count > sample.value {
                    throw Violation(description: "buckets of \(family.name) do not rise")
                }
                last[labels] = (bound, sample.value)
            } else if sample.name.hasSuffix("_count") {
                guard last[labels]?.bound == .infinity, last[labels]?.count == sample.value else {
                    throw Violation(description: "\(family.name): +Inf is not the count")
                }
            }
        }
    }
}
