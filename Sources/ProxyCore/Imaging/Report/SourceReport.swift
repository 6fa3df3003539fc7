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

    /// The report as a JSON object.
    package var json: [UInt8] {
        let upright = header.orientation > 4 ? header.size.transposed : header.size
        let report: JSONValue = [
            "format": .string(header.format.rawValue),
            "mediaType": .string(header.format.traits.mediaType),
            "bytes": .integer(byteCount),
            "width": .integer(header.size.width),
            "height": .integer(header.size.height),
            "orientation": .integer(header.orientation),
            "uprightWidth": .integer(upright.width),
            "uprightHeight": .integer(upright.height),
            "frames": .integer(header.frames),
            "loopCount": .integer(timing.loop),
            "delays": .array(timing.delays.map { .integer($0) }),
            "alpha": .bool(header.hasAlpha),
            "colorSpace": .string(samples.space.rawValue),
            "bitsPerSample": .integer(samples.bits),
            "profile": .bool(samples.hasProfile),
            "dominantColor": DominantColor.color(of: picture).map { .string($0.cssText) } ?? .null,
            "blurHash": .string(BlurHash.text(of: picture)),
            // With padding, as ThumbHash's own tools write it.
            "thumbHash": .string(Base64.encode(ThumbHash.bytes(of: picture))),
        ]
        return Array("\(report.pretty())\n".utf8)
    }
}
