// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Imaging

/// Checks a worker's reply against what is possible: the picture that it read may have compromised it.
///
/// Later code can then rely on numbers that do not overflow, and on a media type that matches the bytes.
struct RenditionCheck {
    let plan: RenderPlan
    let rendition: Rendition
    /// The source's format by its first bytes; nil for no picture.
    let sniffed: ImageFormat?

    /// The longest side and the most frames that any format can express.
    private static let largest = 1 << 30
    /// The longest step in microseconds: a day.
    private static let longest = 86_400_000_000

    /// Whether every number is possible for a picture, and the format a requested one.
    var isPlausible: Bool {
        let sizes = [
            rendition.width, rendition.height, rendition.frames, rendition.source.width,
            rendition.source.height,
            rendition.source.frames,
        ]
        let timings = rendition.timings
        let steps = [timings.queue, timings.decode, timings.transform, timings.encode]
        return sizes.allSatisfy { (1...Self.largest).contains($0) }
            && steps.allSatisfy { (0...Self.longest).contains($0) }
            && (1...8).contains(rendition.source.orientation) && rendition.memory >= 0
            && isOfThisSource && isWanted && isWithinLimits
            && rendition.intermediate.map { Rendition.Intermediate.formats.contains($0.format) } ?? true
    }

    /// Whether the reported source matches its bytes; the original of an intermediate is known here.
    private var isOfThisSource: Bool {
        guard let original = plan.original else { return rendition.source.format == sniffed }
        return rendition.source == original.facts
    }

    /// Whether the plan could have led to this format, whatever the picture is.
    private var isWanted: Bool {
        let format = rendition.format
        guard plan.format != .information else { return format == rendition.source.format }
        guard format.isWritable(decoding: plan.decodableFormats) else { return false }
        switch plan.format {
        case .explicit(let wanted): return format == wanted
        case .source: return format == rendition.source.format || isFallback
        case .automatic(let preferred):
            return preferred.contains(format) || isFallback
                || (format == rendition.source.format && format.traits.isShownByBrowsers)
        case .information: return false
        }
    }

    /// Whether the format is one for what no other can hold.
    private var isFallback: Bool {
        let isAnimated = rendition.frames > 1
        switch rendition.format {
        case .png, .jpeg: return true
        case .gif: return isAnimated
        case .webp: return isAnimated && plan.isLossless
        default: return false
        }
    }

    /// Whether the result is no larger than any may be.
    private var isWithinLimits: Bool {
        guard plan.format != .information else { return true }
        let size = PixelSize(rendition.width, rendition.height)
        return rendition.frames <= plan.limits.frames && max(size.width, size.height) <= plan.limits.side
            && size.area <= plan.limits.outputPixels / rendition.frames
    }

    /// Whether `file` contains from `offset` on the reported number of bytes, which begin as such a picture
    /// does.
    func matchesFile(_ file: OwnedDescriptor, from offset: Int64) -> Bool {
        let format = plan.format == .information ? nil : rendition.format
        return Self.holds(file, rendition.byteCount, from: offset, as: format)
    }

    /// The same for the intermediate.
    static func holds(
        _ file: OwnedDescriptor, _ count: Int, from offset: Int64, as format: ImageFormat?
    ) -> Bool {
        var facts = stat()
        guard unsafe fstat(file.raw, &facts) == 0, count > 0, Int64(count) <= Int64(facts.st_size) - offset
        else { return false }
        guard let format else { return true }
        var prefix = [UInt8](repeating: 0, count: min(count, ImageFormat.sniffLength))
        let isRead = unsafe prefix.withUnsafeMutableBytes { bytes in
            unsafe DescriptorBytes.fill(bytes, from: file.raw, at: offset)
        }
        return isRead && ImageFormat(sniffing: prefix) == format
    }
}
