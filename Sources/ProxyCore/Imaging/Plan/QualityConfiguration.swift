// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Default encoder qualities, of every format that has a quality. Configuration: `quality`.
package struct QualityConfiguration: SettingGroup {
    /// The qualities, by format.
    package private(set) var byFormat = defaults

    /// Creates the defaults.
    package init() {}

    private subscript(format: ImageFormat) -> Int {
        get { byFormat[format] ?? 0 }
        set { byFormat[format] = newValue }
    }

    private static let defaults = Dictionary(
        uniqueKeysWithValues: ImageFormat.allCases.compactMap { format in
            format.traits.defaultQuality.map { (format, $0) }
        })

    package static let settings = SettingTable<Self>("Default encoder qualities.", reload: .takes) {
        ImageFormat.allCases.filter { defaults[$0] != nil }.map { format in
            Setting(format.rawValue, \.[format], in: 1...100, "\(format.traits.title).")
        }
    }
}
