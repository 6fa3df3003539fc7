// SPDX-License-Identifier: Apache-2.0

/// What an operation costs for each pixel, for a photograph; `docs/engine.md` has the measurements.
package struct PixelCost: Sendable {
    /// Processor time relative to writing a pixel as JPEG, for each pixel of the larger of input and output.
    package let work: Double
    /// Bytes that are held for each pixel of the plan's result, by an operation that needs the whole picture.
    package let memory: Int

    /// The default work is that of the colour operations.
    init(work: Double = 1.6, memory: Int = 0) {
        self.work = work
        self.memory = memory
    }
}
