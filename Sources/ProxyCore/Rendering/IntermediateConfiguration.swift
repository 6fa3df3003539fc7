// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Smaller versions of large originals, which make further sizes cheap. Configuration:
/// `transform.intermediates`.
package struct IntermediateConfiguration: SettingGroup {
    package var enabled = true
    package var side = 1_600
    var minPixels = 4_000_000
    package var quality = 88
    package var originals = 4_096

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("Smaller versions of large originals.", reload: .takes) {
        Setting(
            "enabled", \.enabled,
            """
            Whether intermediates are made and used: a smaller copy of a large original, made with its second size in the
            same decoding, from which later sizes up to half its own are made, unless the result is to be lossless.
            """)
        Setting(
            "side", \.side, in: 64...65_536,
            """
            The longest side of an intermediate, in pixels: 800, 400 and 200 are even fractions of 1600, to which a decoder
            of JPEG or WebP shrinks by itself.
            """)
        Setting(
            "minPixels", \.minPixels, in: 0...10_000_000_000,
            "The minimum number of pixels of an original that gets an intermediate.")
        Setting("quality", \.quality, in: 1...100, "The encoder quality of an intermediate.")
        Setting(
            "originals", \.originals, in: 1...10_000_000,
            """
            The maximum number of originals whose first size is remembered, about 100 bytes each; beyond it the oldest is
            removed.
            """)
    }
}
