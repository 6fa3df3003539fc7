// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives

extension String {
    /// The text with spaces up to a width in characters, and one at least.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}

extension ByteCount {
    /// The count in a unit that a person would say, in two digits or three.
    var rounded: String {
        var (value, units) = (Double(bytes), ["B", "kB", "MB", "GB", "TB"][...])
        while value >= 1_000, units.count > 1 {
            value /= 1_000
            units.removeFirst()
        }
        let unit = units.first ?? ""
        return String(format: unit == "B" || value >= 10 ? "%.0f" : "%.1f", value) + " " + unit
    }
}
