// SPDX-License-Identifier: Apache-2.0

import CVips

/// Reads and writes pictures by libvips, each format by its own coder, chosen by us and never by a name.
package enum VipsCoder {
    /// Reads a source's header; no pixel is decoded.
    package static func header(
        of source: borrowing VipsSource, as format: ImageFormat
    ) throws(ImagingError) -> ImageHeader {
        try VipsLibrary.start()
        VipsLibrary.unblock(format)
        return try format.coder.header(of: source)
    }

    /// Reads the header of one page: its size, alpha and orientation may be others than the file's first page has.
    package static func header(
        ofPage index: Int, in source: borrowing VipsSource, _ file: ImageHeader
    ) throws(ImagingError) -> ImageHeader {
        let image = try file.format.coder.loaded(source, .single(index))
        var header = file
        (header.size, header.hasAlpha, header.orientation) = (image.size, image.hasAlpha, image.orientation)
        return header
    }

    /// Opens a source for decoding from top to bottom; a truncated or damaged one fails when its pixels are read.
    package static func open(
        _ source: borrowing VipsSource, as format: ImageFormat, frames: FrameSelection, shrink: LoadShrink
    ) throws(ImagingError) -> VipsImage {
        try format.coder.open(source, frames, shrink)
    }

    /// Whether all of a source can be decoded: what failed on the way to a result was then not the source's fault.
    ///
    /// A decoder that shrinks reads all of it, too, and takes no more memory than the result was granted.
    package static func isSound(
        _ source: borrowing VipsSource, _ header: ImageHeader, frames: FrameSelection
    ) -> Bool {
        do throws(ImagingError) {
            let coder = header.format.coder
            let shrink = frames == .primary ? coder.shrink(header, needed: PixelSize(1, 1)) : .none
            let image = try coder.open(source, frames, shrink)
            return unsafe shim_read_all(image.raw) == 0
        } catch {
            return false
        }
    }

    // MARK: - Writing

    /// Computes all pixels of `image` and encodes them.
    package static func encode(
        _ image: borrowing VipsImage, _ settings: EncodeSettings
    ) throws(ImagingError) -> EncodedImage {
        let coder = settings.format.coder
        let output = try coder.supportsAlpha ? image.duplicate() : image.flattened(onto: .white)
        let addition = addition(to: output, settings)
        let encoded = try coder.save(output, settings, strips: addition?.replacesAll ?? false ? 1 : 0)
        guard let addition else { return encoded }
        return addition.add(encoded)
    }

    /// Removes what is not to be kept, and returns what libvips will not write of the rest.
    private static func addition(
        to image: borrowing VipsImage, _ settings: EncodeSettings
    ) -> MetadataAddition? {
        let ownership = image.ownership
        switch settings.metadata {
        case .keep:
            image.resetOrientationOfXMP()
            image.removeThumbnail()
            // Last: libvips reads its texts anew whenever the block is set.
            image.replaceUnreadableExif(by: ownership)
        case .strip: image.keepOnly(ownership)
        case .none: image.removeDescriptions()
        }
        guard settings.metadata == .keep || settings.metadata == .strip && !ownership.isEmpty else {
            return MetadataAddition(replacesAll: true) { _ in nil }
        }
        return settings.format.coder.addition(to: image, ownership, keepsAll: settings.metadata == .keep)
    }

    /// Encodes `image` the best way that takes at most `limit` bytes; at most eight times for each change that makes it smaller.
    package static func encode(
        _ image: borrowing VipsImage, _ settings: EncodeSettings, within limit: Int
    ) throws(ImagingError) -> EncodedImage {
        // Every try reads all pixels.
        let ready = try image.computed()
        let attempts = settings.attempts
        var best = try encode(ready, attempts[0])
        if best.count <= limit { return best }
        var smallest = best.count
        var found = false
        var steps = 1..<attempts.count
        while !steps.isEmpty {
            let middle = steps.lowerBound + steps.count / 2
            let attempt = try encode(ready, attempts[middle])
            smallest = min(smallest, attempt.count)
            if attempt.count <= limit {
                found = true
                best = attempt
                steps = steps.lowerBound..<middle
            } else {
                steps = middle + 1..<steps.upperBound
            }
        }
        guard found else {
            throw .tooManyBytes("max_bytes is \(limit), and the smallest is \(smallest) bytes")
        }
        return best
    }
}
