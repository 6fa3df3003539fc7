// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The description of a source that `/info` returns.
package struct SourceReport {
    private let header: ImageHeader
    private let byteCount: Int
    private let samples: VipsImage.SampleFacts
    private let timing: AnimationTiming
    private let picture: SmallPicture

    /// Reads the source's header and its first frame, as small as its decoder can make it.
    package init(_ source: borrowing VipsSource, _ header: ImageHeader) throws(ImagingError) {
        self.header = header
        byteCount = source.count
        samples = try header.format.coder.loaded(source, .primary).sampleFacts
        timing =
            try header.isAnimation
            ? header.format.coder.timing(of: source) : AnimationTiming(delays: [], loop: 0)
        picture = try Self.smallPicture(of: source, header)
    }

    private static func smallPicture(
        of source: borrowing VipsSource, _ header: ImageHeader
    ) throws(ImagingError) -> SmallPicture {
        let upright = header.orientation > 4 ? header.size.transposed : header.size
        let longer = max(upright.width, upright.height)
        let factor = min(1, Double(SmallPicture.longestSide) / Double(longer))
        var context = TransformContext(
            maxPixels: header.size.area, maxSide: max(longer, SmallPicture.longestSide), frames: 1)
        let image = try TransformPipeline.fitting(upright.scaled(by: factor))
            .image(from: source, header: header, frames: .primary, in: &context)
        let ready = try image.inColor().withAlpha()
        let size = ready.size
        return SmallPicture(width: size.width, height: size.height, samples: try ready.samples())
    }

    /// The report as a JSON object; all its texts are the daemon's own, and need no escaping.
    package var json: [UInt8] {
        let upright = header.orientation > 4 ? header.size.transposed : header.size
        let members: [(String, String)] = [
            ("format", Self.quoted(header.format.rawValue)),
            ("mediaType", Self.quoted(header.format.row.mediaType)),
            ("bytes", "\(byteCount)"),
            ("width", "\(header.size.width)"),
            ("height", "\(header.size.height)"),
            ("orientation", "\(header.orientation)"),
            ("uprightWidth", "\(upright.width)"),
            ("uprightHeight", "\(upright.height)"),
            ("frames", "\(header.frames)"),
            ("loopCount", "\(timing.loop)"),
            ("delays", "[" + timing.delays.map(String.init).joined(separator: ", ") + "]"),
            ("alpha", "\(header.hasAlpha)"),
            ("colorSpace", Self.quoted(samples.space.rawValue)),
            ("bitsPerSample", "\(samples.bits)"),
            ("profile", "\(samples.hasProfile)"),
            (
                "dominantColor",
                DominantColor.color(of: picture).map { Self.quoted($0.cssText) } ?? "null"
            ),
            ("blurHash", Self.quoted(BlurHash.text(of: picture))),
            // With padding, as ThumbHash's own tools write it.
            ("thumbHash", Self.quoted(Base64.encode(ThumbHash.bytes(of: picture)))),
        ]
        let lines = members.map { "  \"\($0.0)\": \($0.1)" }.joined(separator: ",\n")
        return Array("{\n\(lines)\n}\n".utf8)
    }

    /// Quotes a text without escaping: BlurHash's alphabet has neither quotes nor backslashes.
    private static func quoted(_ text: String) -> String { "\"\(text)\"" }
}
