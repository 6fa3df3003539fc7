// SPDX-License-Identifier: Apache-2.0

/// One label or several together: a finite set of values, numbered without gaps, so that a series is an array
/// index.
///
/// An `enum` of `Int` raw values needs no code but its cases: it is named after itself, its values after
/// their cases.
package protocol MetricLabels: Sendable {
    /// The labels' names, in the order of their values.
    static var names: [String] { get }
    /// How many combinations there are.
    static var count: Int { get }
    /// This combination's number, at least 0 and below `count`.
    var index: Int { get }
    /// The values of the combination with this number, in the order of `names`.
    static func values(at index: Int) -> [String]
}

/// No label: a family with a single series.
package struct NoLabels: MetricLabels {
    package static let names: [String] = []
    package static let count = 1

    /// The one combination.
    @inlinable
    package init() {}

    @inlinable
    package var index: Int { 0 }

    package static func values(at index: Int) -> [String] { [] }
}

/// Two labels together.
package struct LabelPair<First: MetricLabels, Second: MetricLabels>: MetricLabels {
    /// The first label, whose number counts more.
    package let first: First
    package let second: Second

    /// Combines two labels.
    @inlinable
    package init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    package static var names: [String] { First.names + Second.names }
    package static var count: Int { First.count * Second.count }

    @inlinable
    package var index: Int { first.index * Second.count + second.index }

    package static func values(at index: Int) -> [String] {
        First.values(at: index / Second.count) + Second.values(at: index % Second.count)
    }
}

extension MetricLabels where Self: RawRepresentable & CaseIterable, RawValue == Int {
    package static var names: [String] { [snakeCased("\(Self.self)")] }

    @inlinable
    package static var count: Int { allCases.count }

    @inlinable
    package var index: Int { rawValue }

    package static func values(at index: Int) -> [String] {
        Self(rawValue: index).map { [$0.label] } ?? []
    }

    /// The value in metrics and logs: the case's name, in snake case.
    package var label: String { snakeCased("\(self)") }
}

/// Converts a Swift name to that of metrics: `notModified` becomes `not_modified`.
package func snakeCased(_ name: String) -> String {
    var result = ""
    for character in name {
        if character.isUppercase, !result.isEmpty { result += "_" }
        result += character.lowercased()
    }
    return result
}
