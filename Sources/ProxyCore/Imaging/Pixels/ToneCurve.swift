// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The new level of each of the 256 levels of a sample.
package struct ToneCurve: Sendable, Equatable {
    /// The new level of each old one.
    let levels: [UInt8]

    /// Changes no level.
    static let identity = ToneCurve { $0 }

    /// From limited range, 16 to 235, to full range (ITU-T H.273, VideoFullRangeFlag 0).
    static let fromLimitedRange = ToneCurve { ($0 * maximum - 16) / 219 }

    /// The same for levels that were narrowed a second time, by 219 ÷ 256.
    static let fromLimitedRangeTwice = ToneCurve { (($0 * maximum - 16) * 256 / 219 - 16) / 219 }

    private static let maximum = 255.0

    /// Computes every level with a function of 0–1, whose values are clamped to 0–1 and rounded.
    init(_ function: (Double) -> Double) {
        levels = (0...255).map { level in
            let value = function(Double(level) / Self.maximum)
            return UInt8((min(1, max(0, value)) * Self.maximum).rounded())
        }
    }

    /// Gives each level the share of the pixels that are not brighter, black ones left out; black stays so, and
    /// so does a single level.
    /// - Parameter counts: how many pixels have each level.
    static func spreading(_ counts: [UInt32]) -> ToneCurve {
        let all = counts.dropFirst().reduce(0) { $0 + Int($1) }
        guard counts.count(where: { $0 > 0 }) > 1 else { return .identity }
        var sum = -Int(counts.first ?? 0)
        let shares = counts.map { count in
            sum += Int(count)
            return Double(sum) / Double(all)
        }
        return ToneCurve { shares[Int(($0 * maximum).rounded())] }
    }

    /// From encoded sRGB to linear light, both 0–1 (IEC 61966-2-1 §5.2).
    static func linear(_ encoded: Double) -> Double {
        encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4)
    }

    /// From linear light to encoded sRGB, both 0–1.
    static func encoded(_ linear: Double) -> Double {
        linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
    }
}
