// SPDX-License-Identifier: Apache-2.0

/// The result of a rendering: facts about the bytes that were written, and what they cost.
package struct Rendition: Sendable, Equatable, Codable {
    /// The format written.
    package var format: ImageFormat
    /// Width in pixels, of one frame.
    package var width: Int
    /// Height in pixels, of one frame.
    package var height: Int
    /// The number of frames written.
    package var frames: Int
    /// The number of bytes written from the offset on.
    package var byteCount: Int
    /// The facts about the source; about its original if it is an intermediate.
    package var source: SourceFacts
    /// The intermediate that was written.
    package var intermediate: Intermediate?
    /// How long each step took.
    package var timings: Timings
    /// The estimated memory in bytes.
    package var memory = 0
    /// Whether the format is the cheapest and not the one that would have been chosen otherwise.
    package var isCheapest = false

    /// An intermediate that was written.
    package struct Intermediate: Sendable, Equatable, Codable {
        package var format: ImageFormat
        /// The number of bytes.
        package var byteCount: Int

        /// The formats that it may have.
        package static let formats: [ImageFormat] = [.jpeg, .webp]

        /// How it is written.
        package static func settings(hasAlpha: Bool, quality: Int) -> EncodeSettings {
            EncodeSettings(
                format: hasAlpha ? .webp : .jpeg, quality: quality, isLossless: false, isProgressive: false,
                metadata: .strip)
        }

        package init(format: ImageFormat, byteCount: Int) {
            self.format = format
            self.byteCount = byteCount
        }
    }

    /// Facts read from a source's header.
    package struct SourceFacts: Sendable, Hashable, Codable {
        /// The source's format, from its magic bytes.
        package var format: ImageFormat
        /// Width in pixels as stored, before orientation.
        package var width: Int
        /// Height in pixels of one frame as stored, before orientation.
        package var height: Int
        /// The number of frames or pages.
        package var frames: Int
        /// Whether it has an alpha channel.
        package var hasAlpha: Bool
        /// EXIF orientation, 1–8.
        package var orientation: Int

        /// Collects the facts.
        package init(
            format: ImageFormat, width: Int, height: Int, frames: Int, hasAlpha: Bool, orientation: Int = 1
        ) {
            self.format = format
            self.width = width
            self.height = height
            self.frames = frames
            self.hasAlpha = hasAlpha
            self.orientation = orientation
        }
    }

    /// Durations in microseconds. libvips is demand-driven: decoding, the operations and encoding overlap, so
    /// `decode` covers opening (header and shrink-on-load choice), `transform` building the pipeline,
    /// `encode` the run.
    package struct Timings: Sendable, Equatable, Codable {
        /// Waiting for a worker.
        package var queue: Int
        /// Opening the source.
        package var decode: Int
        /// Building the pipeline.
        package var transform: Int
        /// Computing and encoding the pixels.
        package var encode: Int

        /// Collects the durations, in microseconds.
        package init(queue: Int = 0, decode: Int = 0, transform: Int = 0, encode: Int = 0) {
            self.queue = queue
            self.decode = decode
            self.transform = transform
            self.encode = encode
        }
    }

    /// Collects what is known of a rendition.
    package init(
        format: ImageFormat, width: Int, height: Int, frames: Int, byteCount: Int, source: SourceFacts,
        timings: Timings
    ) {
        self.format = format
        self.width = width
        self.height = height
        self.frames = frames
        self.byteCount = byteCount
        self.source = source
        self.timings = timings
    }
}
