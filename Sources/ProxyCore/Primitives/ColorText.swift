// SPDX-License-Identifier: Apache-2.0

/// Reads colours; each result is red, green, blue and alpha.
package enum ColorText {
    /// The colour of 3, 4, 6 or 8 hexadecimal digits in either case; alpha is last.
    package static func components(hexadecimal text: Substring) -> [UInt8]? {
        let digits = text.utf8.count < 6 ? text.utf8.flatMap { [$0, $0] } : Array(text.utf8)
        guard digits.count == 6 || digits.count == 8, let parts = [UInt8](hexadecimal: digits) else {
            return nil
        }
        return parts.count == 4 ? parts : parts + [.max]
    }

    /// The colour of a CSS name in lower case, or of `transparent`.
    package static func components(name: String) -> [UInt8]? {
        if name == "transparent" { return [0, 0, 0, 0] }
        return ColorNames.values[name].map { value in
            [value >> 16, value >> 8, value].map { UInt8(truncatingIfNeeded: $0) } + [.max]
        }
    }
}
