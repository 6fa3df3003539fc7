// SPDX-License-Identifier: Apache-2.0

// Tests are built for debugging alone: a release has no `@testable`.
#if DEBUG

    import CLinux
    import CVips
    import Glibc

    @testable import Bodies
    @testable import Imaging
    @testable import Rendering

    /// A picture of known pixels, written and read by libvips.
    struct TestPicture: Equatable {
        let width: Int
        let height: Int
        let bands: Int
        var samples: [UInt8]

        /// Paints each pixel.
        init(_ width: Int, _ height: Int, bands: Int = 3, _ pixel: (_ x: Int, _ y: Int) -> [UInt8]) {
            self.width = width
            self.height = height
            self.bands = bands
            samples = (0..<height).flatMap { y in (0..<width).flatMap { x in pixel(x, y) } }
        }

        /// Reads all pixels of an image.
        init(_ image: borrowing Imaging.VipsImage) throws {
            width = image.size.width
            height = image.size.height
            bands = image.bands
            var count = 0
            guard let memory = vips_image_write_to_memory(image.raw, &count) else {
                throw VipsLibrary.failure()
            }
            defer { g_free(memory) }
            samples = Array(UnsafeRawBufferPointer(start: memory, count: count))
        }

        /// Decodes an encoded picture, all frames one below the other, as stored: without orientation or profile.
        init(decoding bytes: [UInt8], frames: FrameSelection = .all) throws {
            let source = try openedSource(bytes)
            guard let format = ImageFormat(sniffing: bytes) else { throw RenderError.notAnImage }
            VipsLibrary.unblock(format)
            try self.init(VipsCoder.open(source, as: format, frames: frames, shrink: .none))
        }

        /// The samples of one pixel.
        subscript(_ x: Int, _ y: Int) -> [UInt8] {
            let start = (y * width + x) * bands
            return Array(samples[start..<start + bands])
        }

        /// The largest difference between any two samples; nil if the sizes differ.
        func distance(to other: TestPicture) -> Int? {
            guard width == other.width, height == other.height, bands == other.bands else { return nil }
            return zip(samples, other.samples).map { abs(Int($0) - Int($1)) }.max()
        }

        /// The structural similarity of brightness, 1 for equal pictures: means over windows of 8 × 8 (Wang et
        /// al. 2004).
        func likeness(to other: TestPicture) -> Double? {
            guard width == other.width, height == other.height, min(width, height) >= 8 else { return nil }
            var sum = 0.0
            var count = 0.0
            for top in stride(from: 0, through: height - 8, by: 4) {
                for left in stride(from: 0, through: width - 8, by: 4) {
                    sum += likeness(to: other, left, top)
                    count += 1
                }
            }
            return sum / count
        }

        private func likeness(to other: TestPicture, _ left: Int, _ top: Int) -> Double {
            var (a, b, aa, bb, ab) = (0.0, 0.0, 0.0, 0.0, 0.0)
            for y in top..<top + 8 {
                for x in left..<left + 8 {
                    let (one, two) = (brightness(x, y), other.brightness(x, y))
                    a += one
                    b += two
                    aa += one * one
                    bb += two * two
                    ab += one * two
                }
            }
            let (meanA, meanB) = (a / 64, b / 64)
            let (varianceA, varianceB, shared) = (
                aa / 64 - meanA * meanA, bb / 64 - meanB * meanB, ab / 64 - meanA * meanB
            )
            let (small, smaller) = (6.5025, 58.5225)
            return (2 * meanA * meanB + small) * (2 * shared + smaller)
                / ((meanA * meanA + meanB * meanB + small) * (varianceA + varianceB + smaller))
        }

        private func brightness(_ x: Int, _ y: Int) -> Double {
            let start = (y * width + x) * bands
            guard bands >= 3 else { return Double(samples[start]) }
            return 0.299 * Double(samples[start]) + 0.587 * Double(samples[start + 1])
                + 0.114 * Double(samples[start + 2])
        }

        /// The mean difference between two samples; nil if the sizes differ.
        func meanDistance(to other: TestPicture) -> Double? {
            guard width == other.width, height == other.height, bands == other.bands else { return nil }
            let sum = zip(samples, other.samples).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            return Double(sum) / Double(samples.count)
        }

        /// The picture as an image of libvips.
        func image() throws -> Imaging.VipsImage {
            try VipsLibrary.start()
            return try Imaging.VipsImage(
                adopting: shim_image_copying(samples, samples.count, CInt(width), CInt(height), CInt(bands)),
                isSequential: false)
        }

        /// Encodes without loss if the format can, otherwise at quality 100.
        func encoded(as format: ImageFormat, orientation: Int? = nil, copyright: String? = nil) throws
            -> [UInt8]
        {
            let image = try image().duplicate()
            if let orientation { image.set("orientation", to: orientation) }
            if let copyright { vips_image_set_string(image.raw, "exif-ifd0-Copyright", copyright) }
            return try Self.bytes(of: image, as: format, metadata: .keep)
        }

        /// Encodes an image without changes.
        static func bytes(
            of image: borrowing Imaging.VipsImage, as format: ImageFormat,
            metadata: RenderPlan.MetadataPolicy = .keep
        ) throws -> [UInt8] {
            VipsLibrary.unblock(format)
            let settings = EncodeSettings(
                format: format, quality: 100, isLossless: true, isProgressive: nil, metadata: metadata)
            return try VipsCoder.encode(image, settings).withBytes { Array($0) }
        }

        /// Encodes frames of one size as an animation.
        static func animation(
            _ frames: [TestPicture], delays: [Int], loop: Int, as format: ImageFormat
        ) throws
            -> [UInt8]
        {
            try VipsLibrary.start()
            var strip = FrameStrip()
            for frame in frames { strip.append(try frame.image()) }
            return try bytes(
                of: strip.joined(timing: AnimationTiming(delays: delays, loop: loop)), as: format)
        }
    }

    extension TestPicture {
        static let red: [UInt8] = [255, 0, 0]
        static let green: [UInt8] = [0, 255, 0]
        static let blue: [UInt8] = [0, 0, 255]
        static let white: [UInt8] = [255, 255, 255]

        /// Red, green, blue and white quarters: top left, top right, bottom left, bottom right.
        static func quarters(_ width: Int, _ height: Int) -> TestPicture {
            TestPicture(width, height) { x, y in
                y < height / 2 ? (x < width / 2 ? red : green) : (x < width / 2 ? blue : white)
            }
        }

        /// One colour.
        static func plain(_ width: Int, _ height: Int, _ color: [UInt8]) -> TestPicture {
            TestPicture(width, height, bands: color.count) { _, _ in color }
        }

        /// Soft colour ramps, which change little by resampling and lossy coders.
        static func ramps(_ width: Int, _ height: Int) -> TestPicture {
            TestPicture(width, height) { x, y in
                [UInt8(x * 255 / max(1, width - 1)), UInt8(y * 255 / max(1, height - 1)), 128]
            }
        }
    }

    /// An unnamed file in memory for a rendition.
    struct RenderTarget {
        let file: OwnedDescriptor

        init() throws {
            let descriptor = linux_memfd_create("rendition")
            guard descriptor >= 0 else { throw RenderError.notWritten("memfd_create: error \(errno)") }
            file = OwnedDescriptor(owning: descriptor)
        }

        /// The rendition's bytes from `offset`.
        func bytes(_ rendition: Rendition, from offset: Int64 = 0) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: rendition.byteCount)
            let isWhole = bytes.withUnsafeMutableBytes {
                DescriptorBytes.fill($0, from: file.raw, at: offset)
            }
            return isWhole ? bytes : []
        }
    }

    /// Renders in this process and decodes the result.
    func rendered(
        _ source: [UInt8], _ transform: String = "", as format: RenderPlan.FormatChoice = .explicit(.png),
        _ change: (inout RenderPlan) -> Void = { _ in }
    ) async throws -> (rendition: Rendition, picture: TestPicture, bytes: [UInt8]) {
        var plan = RenderPlan(
            pipeline: transform.isEmpty ? TransformPipeline() : try TransformPipeline(parsing: transform),
            format: format)
        change(&plan)
        let target = try RenderTarget()
        let rendition = try await InProcessRenderer().render(
            plan, from: .bytes(source), into: target.file, at: 0)
        let bytes = target.bytes(rendition)
        return (rendition, try TestPicture(decoding: bytes), bytes)
    }

    /// Lends bytes to a decoder.
    func openedSource(_ bytes: [UInt8]) throws -> Imaging.VipsSource {
        guard let source = Imaging.VipsSource.copy(of: .bytes(bytes)) else {
            throw RenderError.unavailable("source")
        }
        return source
    }

#endif
