// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A path of thumbor, divided: the options in their fixed order, and the source behind them.
struct ThumborPath {
    /// What is cut away at the borders before anything else.
    struct Trim {
        var isByLastCorner = false
        /// Levels by which a colour may differ.
        var tolerance = 0
    }

    /// A side of the wanted size.
    enum Side: Equatable {
        case pixels(Int)
        /// The source's own (`orig`).
        case original

        /// As our grammar writes it.
        var text: String {
            switch self {
            case .pixels(let count): "\(count)"
            case .original: "100pc"
            }
        }
    }

    /// How the picture gets the wanted size.
    enum Mode {
        /// Covers it, and what is too much is cut.
        case cover
        /// Fits inside.
        case fit
        /// Is as small as it can be without being smaller.
        case full
    }

    /// Whether the picture is to be shown with its focal points, as it is.
    private(set) var isDebug = false
    private(set) var isMeta = false
    private(set) var trim: Trim?
    /// Left, top, right and bottom: pixels, or shares below or equal to 1 if one of them has a point.
    private(set) var crop: [Double]?
    private(set) var mode = Mode.cover
    private(set) var isAdaptive = false
    private(set) var isStretched = false
    private(set) var width: Side?
    private(set) var height: Side?
    private(set) var flipsHorizontally = false
    private(set) var flipsVertically = false
    /// Left, top, right and bottom, added outside (imagor).
    private(set) var padding: [Int]?
    private(set) var horizontal: String?
    private(set) var vertical: String?
    private(set) var isSmart = false
    private(set) var filters: [ThumborFilter] = []
    /// Raw.
    private(set) var source: Substring

    /// Divides what is behind the signature.
    ///
    /// The first part that is none of the options, or not in its place, begins the source.
    init(parsing rest: Substring, flavor: Thumbor.Settings.Flavor) throws(TranslationError) {
        source = rest
        let isImagor = flavor == .imagor
        if !isImagor { isDebug = take { $0 == "debug" ? true : nil } ?? false }
        isMeta = take { $0 == "meta" ? true : nil } ?? false
        trim = take(Self.trim)
        crop = take { Self.rectangle($0, allowingShares: isImagor) }
        if let fit = take(Self.fit) { (mode, isAdaptive) = fit }
        if isImagor { isStretched = take { $0 == "stretch" ? true : nil } ?? false }
        if let size = take(Self.size) { (flipsHorizontally, width, flipsVertically, height) = size }
        if isImagor { padding = take(Self.padding) }
        horizontal = take { ["left", "center", "right"].contains($0) ? String($0) : nil }
        vertical = take { ["top", "middle", "bottom"].contains($0) ? String($0) : nil }
        isSmart = take { $0 == "smart" ? true : nil } ?? false
        takeFilters(isImagor: isImagor)
    }

    /// Takes the next part of the path if it reads as what is wanted.
    private mutating func take<Value>(_ read: (Substring) -> Value?) -> Value? {
        guard let slash = source.firstIndex(of: "/"), let value = read(source[..<slash]) else { return nil }
        source = source[source.index(after: slash)...]
        return value
    }

    private static func trim(_ part: Substring) -> Trim? {
        var pieces = part.split(separator: ":", omittingEmptySubsequences: false)[...]
        guard pieces.popFirst() == "trim" else { return nil }
        var trim = Trim()
        if let corner = pieces.first, corner == "top-left" || corner == "bottom-right" {
            trim.isByLastCorner = corner == "bottom-right"
            pieces.removeFirst()
        }
        if let tolerance = pieces.popFirst() {
            guard let number = count(tolerance) else { return nil }
            trim.tolerance = number
        }
        return pieces.isEmpty ? trim : nil
    }

    private static func rectangle(_ part: Substring, allowingShares: Bool) -> [Double]? {
        let corners = part.split(separator: ":", omittingEmptySubsequences: false)
        guard corners.count == 2 else { return nil }
        let sides = corners.flatMap { $0.split(separator: "x", omittingEmptySubsequences: false) }
        guard sides.count == 4 else { return nil }
        let numbers = sides.compactMap { side -> Double? in
            if let number = count(side) { return Double(number) }
            return allowingShares ? share(side) : nil
        }
        return numbers.count == 4 ? numbers : nil
    }

    private static func fit(_ part: Substring) -> (mode: Mode, isAdaptive: Bool)? {
        switch part {
        case "fit-in": (.fit, false)
        case "full-fit-in": (.full, false)
        case "adaptive-fit-in": (.fit, true)
        case "adaptive-full-fit-in": (.full, true)
        default: nil
        }
    }

    private static func size(
        _ part: Substring
    ) -> (flipsHorizontally: Bool, width: Side?, flipsVertically: Bool, height: Side?)? {
        let sides = part.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = side(sides[0]), let height = side(sides[1]) else { return nil }
        return (width.isFlipped, width.side, height.isFlipped, height.side)
    }

    private static func side(_ text: Substring) -> (isFlipped: Bool, side: Side?)? {
        let isFlipped = text.first == "-"
        let rest = text.dropFirst(isFlipped ? 1 : 0)
        if rest.isEmpty { return (isFlipped, nil) }
        if rest == "orig" { return (isFlipped, .original) }
        guard let number = count(rest) else { return nil }
        return (isFlipped, number == 0 ? nil : .pixels(number))
    }

    private static func padding(_ part: Substring) -> [Int]? {
        let corners = part.split(separator: ":", omittingEmptySubsequences: false)
        let sides = corners.map { $0.split(separator: "x", omittingEmptySubsequences: false) }
        let numbers = sides.joined().compactMap(count)
        guard sides.allSatisfy({ $0.count == 2 }), numbers.count == sides.count * 2 else { return nil }
        return numbers.count == 4 ? numbers : numbers.count == 2 ? numbers + numbers : nil
    }

    private mutating func takeFilters(isImagor: Bool) {
        let mark = "filters:"
        guard source.hasPrefix(mark), let end = source.firstRange(of: ")/") else { return }
        let list = source[..<end.lowerBound].dropFirst(mark.count)
        guard !list.isEmpty else { return }
        filters = ThumborFilter.list(list, isImagor: isImagor)
        source = source[end.upperBound...]
    }

    /// Digits only; more than nine are more than anything may be.
    static func count(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return min(Int(text) ?? .max, 999_999_999)
    }

    private static func share(_ text: Substring) -> Double? {
        guard text.contains("."), let number = Double(text), (0...1).contains(number) else { return nil }
        return number
    }
}
