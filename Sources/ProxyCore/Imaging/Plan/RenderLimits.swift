// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Bounds on pictures, checked from header facts before pixels are decoded. Configuration: `limits`.
package struct RenderLimits: SettingGroup, Hashable, Codable {
    package var sourcePixels = 50_000_000
    package var frames = 256
    package var side = 30_000
    package var outputPixels = 50_000_000
    package var operations = 16
    package var unsignedWork = 160

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("Bounds on pictures.", reload: .takes) {
        Setting(
            "sourcePixels", \.sourcePixels, in: 1...10_000_000_000,
            "Most pixels of a source, width × height × frames; beyond it 422 `too_many_pixels`.")
        Setting("frames", \.frames, in: 1...100_000, "Most frames or pages; beyond it 422 `too_many_frames`.")
        Setting(
            "side", \.side, in: 1...10_000_000,
            "Longest side of source and result, in pixels; beyond it 422 `too_many_pixels`.")
        Setting(
            "outputPixels", \.outputPixels, in: 1...10_000_000_000,
            "Most pixels of a result, width × height × frames; beyond it 422 `too_many_pixels`.")
        Setting(
            "operations", \.operations, in: 1...1_000,
            "Most operations in one pipeline; beyond it 400 `invalid_parameter`.")
        Setting(
            "unsignedWork", \.unsignedWork, in: 1...1_000_000,
            """
            Most work of a plan without a signature, in megapixels written as JPEG, which take some 25 ms of processor time
            each; slower formats and operations count as many times more (`docs/engine.md` has the factors); beyond it 422
            `too_much_work`. Presets may exceed it.
            """)
    }
}
