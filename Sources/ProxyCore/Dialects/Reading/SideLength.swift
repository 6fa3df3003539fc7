// SPDX-License-Identifier: Apache-2.0

/// A side of a size: pixels, or per cent of the picture's side.
enum SideLength: Hashable {
    case pixels(Double)
    case percent(Double)

    /// The largest side of our grammar.
    static let maxPixels = 100_000.0

    var isPercent: Bool { if case .percent = self { true } else { false } }

    func scaled(by factor: Double) -> SideLength {
        switch self {
        case .pixels(let number): .pixels(number * factor)
        case .percent(let number): .percent(number * factor)
        }
    }

    /// The side in our grammar.
    var text: String {
        switch self {
        case .pixels(let number): NumberText.text(max(1, number))
        case .percent(let number): NumberText.text(max(0.001, number)) + "pc"
        }
    }

    /// A size in our grammar; a side that is not given follows from the other.
    static func size(_ width: SideLength?, _ height: SideLength?) -> String {
        "\(width?.text ?? "")x\(height?.text ?? "")"
    }
}
