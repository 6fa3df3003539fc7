// SPDX-License-Identifier: Apache-2.0

import Primitives

extension String {
    /// The text with spaces up to a width in characters, and one at least.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}

extension Double {
    /// The number with one digit after the point, for a number that is not too large for that.
    var inTenths: String {
        let tenths = Int((self * 10).rounded(.toNearestOrEven))
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
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
        return (unit == "B" || value >= 10 ? "\(Int(value.rounded()))" : value.inTenths) + " " + unit
    }
}

extension Int64 {
    /// So many seconds as a person would say it.
    var asDuration: String {
        switch self {
        case ..<120: "\(self) s"
        case ..<7_200: "\(self / 60) min"
        case ..<172_800: "\(self / 3_600) h"
        default: "\(self / 86_400) days"
        }
    }
}
