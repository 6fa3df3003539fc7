// SPDX-License-Identifier: Apache-2.0

/// Bounds on pictures, checked from header facts before pixels are decoded. Configuration: `limits`.
package struct RenderLimits: Sendable, Hashable, Codable {
    /// Most pixels of a source, width × height × frames. Default 50,000,000; beyond it 422 `too_many_pixels`.
    package var sourcePixels: Int = 50_000_000
    /// Most frames or pages. Default 256; beyond it 422 `too_many_frames`.
    package var frames: Int = 256
    /// Longest side of source and result, in pixels. Default 30,000; beyond it 422 `too_many_pixels`.
    package var side: Int = 30_000
    /// Most pixels of a result, width × height × frames. Default 50,000,000; beyond it 422 `too_many_pixels`.
    package var outputPixels: Int = 50_000_000
    /// Most operations in one pipeline. Default 16; beyond it 400 `invalid_parameter`.
    package var operations: Int = 16
    /// Most work of a plan without a signature, in megapixels written as JPEG, which take some 25 ms of
    /// processor time each; slower formats and operations count as many times more (`docs/engine.md` has the
    /// factors). Default 160; beyond it 422 `too_much_work`. Presets may exceed it.
    package var unsignedWork: Int = 160

    /// Creates the defaults.
    package init() {}
}
