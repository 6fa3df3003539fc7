// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Default encoder qualities, of every format that has a quality. Configuration: `quality`.
package struct QualityConfiguration: SettingGroup {
    /// The qualities, by format.
    package private(set) var byFormat: [ImageFormat: Int]

    /// Creates the defaults.
    package init() {
        byFormat = Dictionary(uniqueKeysWithValues: Self.defaults.map { ($0.format, $0.quality) })
    }

    private subscript(format: ImageFormat) -> Int {
        get { byFormat[format] ?? 0 }
        set { byFormat[format] = newValue }
    }

    private static let defaults = ImageFormat.allCases.compactMap { format in
        format.row.defaultQuality.map { (format: format, quality: $0) }
    }

    package static let settings = SettingTable<Self>("Default encoder qualities.", reload: .takes) {
        defaults.map { format, _ in
            Setting(format.rawValue, \.[format], in: 1...100, "\(format.row.title).")
        }
    }
}
