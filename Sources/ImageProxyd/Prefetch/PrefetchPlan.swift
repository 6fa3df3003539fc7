// SPDX-License-Identifier: Apache-2.0

import Primitives
import Request

/// What is made of each source of an order, and how fast.
struct PrefetchPlan: Sendable {
    /// One image of each source: the parameters of its URL besides the source, and what clients accept.
    struct Variant: Sendable, Equatable {
        var parameters: [QueryItem] = []
        var accept = PrefetchPlan.browsers
    }

    /// Each source's images, in this order.
    var variants: [Variant] = [Variant()]
    /// The most images a second; nil for no bound.
    var rate: Double?

    /// What browsers accept now, where an order does not say it: it decides the format of `format=auto`.
    static let browsers = "image/avif,image/webp,image/*,*/*;q=0.8"

    /// Parameters that belong to one URL of a client, not to an order: `options`, too, since nothing here may ask
    /// an origin again that has failed.
    static let excluded: Set<String> = [
        "url", "url64", "sig", "transform", "preset", "options", "priority", "expires", "filename",
        "download",
        "placeholder",
    ]

    /// The maximum number of images of one source.
    static let maxVariants = 64
    /// The maximum number of bytes of an order's parameters.
    static let maxBytes = 64 << 10

    /// The bytes of the parameters.
    var byteCount: Int {
        variants.reduce(0) { sum, variant in
            variant.parameters.reduce(sum + variant.accept.utf8.count + 64) {
                $0 + $1.name.utf8.count + $1.value.utf8.count + 32
            }
        }
    }
}

/// The content of `POST /prefetch`: sources, and what to make of them.
struct PrefetchBody: Sendable {
    var urls: [String] = []
    /// Nil where the content names nothing but sources.
    var plan: PrefetchPlan?
    /// Whether further sources will follow.
    var isOpen = false

    /// Why the content can't be used, in a sentence.
    struct Problem: Error, Equatable {
        let text: String
    }

    /// The maximum number of bytes of the content.
    static let maxBytes = 1 << 20
    /// The maximum number of bytes of a source's URL.
    static let maxURLBytes = 8 << 10

    /// Reads the content: JSON.
    init(_ bytes: [UInt8]) throws(Problem) {
        let object: JSONValue
        do throws(JSONSyntaxError) {
            var parser = JSONParser(bytes, notesPositions: false)
            object = try parser.parse()
        } catch {
            throw Problem(
                text: "line \(error.position.line), column \(error.position.column): \(error.message)")
        }
        try self.init(object)
    }

    /// Reads the parsed content.
    init(_ object: JSONValue) throws(Problem) {
        guard case .object(let members) = object else {
            throw Problem(
                text: #"must be an object such as {"urls": ["https://…"], "transforms": ["resize:200x"]}"#)
        }
        var reading = Reading()
        for member in members { try reading.take(member) }
        urls = reading.urls
        isOpen = reading.isOpen
        plan = try reading.plan()
    }

    /// The members so far.
    private struct Reading {
        var urls: [String] = []
        var isOpen = false
        private var choices: [QueryItem] = []
        private var others: [QueryItem] = []
        private var accepts: [String] = []
        private var rate: Double?

        mutating func take(_ member: JSONValue.Member) throws(Problem) {
            switch member.name {
            case "urls": urls = try Self.texts(member)
            case "transforms": try choose("transform", member)
            case "presets": try choose("preset", member)
            case "accept":
                if case .string(let text) = member.value {
                    accepts = [text]
                } else {
                    accepts = try Self.texts(member)
                }
            case "rate": rate = try Self.rate(member.value)
            case "more":
                guard case .bool(let value) = member.value else {
                    throw Problem(text: "'more' must be true or false")
                }
                isOpen = value
            default: others.append(try Self.parameter(member))
            }
        }

        private mutating func choose(_ name: String, _ member: JSONValue.Member) throws(Problem) {
            choices += try Self.texts(member).map { QueryItem(name: name, value: $0) }
        }

        private static func texts(_ member: JSONValue.Member) throws(Problem) -> [String] {
            guard case .array(let values) = member.value else {
                throw Problem(text: "'\(member.name)' must be a list of texts")
            }
            var texts: [String] = []
            texts.reserveCapacity(values.count)
            for value in values {
                guard case .string(let text) = value else {
                    throw Problem(text: "'\(member.name)' must be a list of texts, and has \(value.kind)")
                }
                guard text.utf8.count <= maxURLBytes else {
                    throw Problem(text: "'\(member.name)' has a text of more than \(maxURLBytes) bytes")
                }
                texts.append(text)
            }
            return texts
        }

        private static func rate(_ value: JSONValue) throws(Problem) -> Double {
            let rate: Double
            switch value {
            case .integer(let number): rate = Double(number)
            case .number(let number): rate = number
            default: rate = 0
            }
            guard rate >= 0.01, rate <= 10_000 else {
                throw Problem(text: "'rate' must be a number of images a second, 0.01 to 10000")
            }
            return rate
        }

        private static func parameter(_ member: JSONValue.Member) throws(Problem) -> QueryItem {
            let name = member.name
            guard ImageRequestParser.parameterNames.contains(name), !excluded.contains(name) else {
                let known = ImageRequestParser.parameterNames.subtracting(excluded).sorted()
                throw Problem(
                    text:
                        "'\(name.excerpt)' is not taken here: known are urls, transforms, presets, accept, rate, "
                        + "more, \(known.joined(separator: ", "))")
            }
            switch member.value {
            case .string(let text): return QueryItem(name: name, value: text)
            case .integer(let number): return QueryItem(name: name, value: "\(number)")
            case .number(let number): return QueryItem(name: name, value: "\(number)")
            case .bool(let value): return QueryItem(name: name, value: value ? "1" : "0")
            case .null, .array, .object: throw Problem(text: "'\(name)' must be a text or a number")
            }
        }

        private static let excluded = PrefetchPlan.excluded

        func plan() throws(Problem) -> PrefetchPlan? {
            guard !choices.isEmpty || !others.isEmpty || !accepts.isEmpty || rate != nil else { return nil }
            let accepts = accepts.isEmpty ? [PrefetchPlan.browsers] : accepts
            let choices = choices.isEmpty ? [others] : choices.map { [$0] + others }
            guard choices.count * accepts.count <= PrefetchPlan.maxVariants else {
                throw Problem(
                    text:
                        "\(choices.count * accepts.count) images of each source, at most \(PrefetchPlan.maxVariants)"
                )
            }
            let variants = choices.flatMap { items in
                accepts.map { PrefetchPlan.Variant(parameters: items, accept: $0) }
            }
            let plan = PrefetchPlan(variants: variants, rate: rate)
            guard plan.byteCount <= PrefetchPlan.maxBytes else {
                throw Problem(text: "the parameters have more than \(PrefetchPlan.maxBytes) bytes")
            }
            return plan
        }
    }
}
