// SPDX-License-Identifier: Apache-2.0

/// The result of a rendering: facts about the bytes that were written, and what they cost.
public struct Rendition: Sendable, Equatable, Codable {
    /// The format written.
    public var format: ImageFormat
    /// Width in pixels, of one frame.
    public var width: Int
    /// Height in pixels, of one frame.
    public var height: Int
    /// The number of frames written.
    public var frames: Int
    /// The number of bytes written from the offset on.
    public var byteCount: Int
    /// The facts about the source; about its original if it is an intermediate.
    public var source: SourceFacts
    /// The intermediate that was written.
    public var intermediate: Intermediate?
    /// How long each step took.
    public var timings: Timings
    /// The estimated memory in bytes.
    public var memory = 0
    /// Whether the format is the cheapest and not the one that would have been chosen otherwise.
    public var isCheapest = false

    /// An intermediate that was written.
    public struct Intermediate: Sendable, Equatable, Codable {
        /// Its format.
        public var format: ImageFormat
        /// The number of bytes.
        public var byteCount: Int
    }

    /// Facts read from a source's header.
    public struct SourceFacts: Sendable, Hashable, Codable {
        /// The source's format, from its magic bytes.
        public var format: ImageFormat
        /// Width in pixels as stored, before orientation.
        public var width: Int
        /// Height in pixels of one frame as stored, before orientation.
        public var height: Int
        /// The number of frames or pages.
        public var frames: Int
        /// Whether it has an alpha channel.
        public var hasAlpha: Bool
        /// EXIF orientation, 1–8.
        public var orientation: Int

        /// Collects the facts.
        public init(
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
    public struct Timings: Sendable, Equatable, Codable {
        /// Waiting for a worker.
        public var queue: Int
        /// Opening the source.
        public var decode: Int
        /// Building the pipeline.
        public var transform: Int
        /// Computing and encoding the pixels.
        public var encode: Int

        /// Collects the durations, in microseconds.
        public init(queue: Int = 0, decode: Int = 0, transform: Int = 0, encode: Int = 0) {
            self.queue = queue
            self.decode = decode
            self.transform = transform
            self.encode = encode
        }
    }

    /// Collects what is known of a rendition.
    public init(
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
