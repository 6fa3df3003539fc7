// SPDX-License-Identifier: Apache-2.0

/// What an operation costs for each pixel, for a photograph; `docs/engine.md` has the measurements.
package struct PixelCost: Sendable {
    /// Processor time relative to writing a pixel as JPEG, for each pixel of the larger of input and output. The
    /// default is that of the colour operations.
    package var work = 1.6
    /// Bytes that are held for each pixel of the plan's result, by an operation that needs the whole picture.
    package var memory = 0
}
