// SPDX-License-Identifier: Apache-2.0

import CVips

/// An image, as libvips' functions take and return it.
typealias RawImage = UnsafeMutablePointer<CVips.VipsImage>

/// A libvips image; its pixels are usually computed when they are read.
///
/// Operations borrow the image and do not change it.
@safe package struct VipsImage: ~Copyable {
    /// The object; owned.
    let raw: RawImage
    /// Whether pixels can only be read from top to bottom, because they come directly from a decoder.
    let isSequential: Bool

    /// Takes ownership of a reference that a call has returned; nil means that the call has failed.
    init(adopting made: RawImage?, isSequential: Bool) throws(ImagingError) {
        guard let made = unsafe made else { throw VipsLibrary.failure() }
        unsafe raw = made
        self.isSequential = isSequential
    }

    deinit {
        unsafe g_object_unref(raw)
    }

    /// Wraps the result of an operation on this image.
    borrowing func derived(_ made: RawImage?) throws(ImagingError) -> VipsImage {
        try unsafe VipsImage(adopting: made, isSequential: isSequential)
    }

    /// Width and height, of all frames one below the other.
    package var size: PixelSize {
        unsafe PixelSize(Int(vips_image_get_width(raw)), Int(vips_image_get_height(raw)))
    }

    /// The number of bands, alpha included.
    var bands: Int { unsafe Int(vips_image_get_bands(raw)) }

    /// Whether the last band is alpha.
    package var hasAlpha: Bool { unsafe shim_has_alpha(raw) != 0 }

    /// Whether pixels are one grey band, with or without alpha.
    var isGrey: Bool { bands - (hasAlpha ? 1 : 0) == 1 }

    /// Whether it contains frames, one below the other.
    var isFrames: Bool { unsafe vips_image_get_page_height(raw) < vips_image_get_height(raw) }

    /// The number of frames or pages of the source; this image may contain only one.
    var pagesInSource: Int { max(1, integer("n-pages", otherwise: 1)) }

    /// The orientation in the metadata, 1–8 (EXIF 2.32, tag 0x0112); 1 if there is none.
    var orientation: Int {
        let value = integer("orientation", otherwise: 1)
        return (1...8).contains(value) ? value : 1
    }

    /// The delays and the loop count of an animation.
    var timing: AnimationTiming {
        var count: CInt = 0
        let delays = unsafe shim_ints_field(raw, "delay", &count)
        let list = unsafe UnsafeBufferPointer(start: delays, count: delays == nil ? 0 : Int(count))
        return unsafe AnimationTiming(delays: list.map(Int.init), loop: integer("loop", otherwise: 0))
    }

    /// The sample format of a source.
    struct SampleFacts: Equatable {
        /// The colour space, without its profile.
        let space: Space
        /// The number of bits of one sample in memory.
        let bits: Int
        /// Whether a colour profile is embedded.
        let hasProfile: Bool

        /// Colour spaces, as reported to clients.
        enum Space: String {
            case sRGB = "srgb"
            case grey, cmyk, lab, linear, other
        }
    }

    /// The sample format.
    var sampleFacts: SampleFacts {
        let space: SampleFacts.Space =
            switch unsafe vips_image_get_interpretation(raw) {
            case VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_RGB, VIPS_INTERPRETATION_RGB16: .sRGB
            case VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16: .grey
            case VIPS_INTERPRETATION_CMYK: .cmyk
            case VIPS_INTERPRETATION_LAB, VIPS_INTERPRETATION_LABS, VIPS_INTERPRETATION_LABQ: .lab
            case VIPS_INTERPRETATION_scRGB: .linear
            default: .other
            }
        let bytes = unsafe vips_format_sizeof(vips_image_get_format(raw))
        return SampleFacts(
            space: space, bits: Int(bytes) * 8,
            hasProfile: unsafe shim_has_field(raw, "icc-profile-data") != 0)
    }

    /// The largest sample of all pixels and bands, including alpha; reads all pixels.
    package borrowing func brightest() throws(ImagingError) -> Double {
        let largest = unsafe shim_largest_sample(raw)
        guard largest >= 0 else { throw VipsLibrary.failure() }
        return largest
    }

    /// Whether it has few colours, and mostly pixels that are like the one to their left: a drawing or a screenshot.
    ///
    /// Of a photo no more than the first rows are looked at; the pixels have to be in memory.
    package var isFlat: Bool { unsafe shim_is_flat(raw) != 0 }

    /// Returns an integer of the metadata.
    func integer(_ name: String, otherwise: Int) -> Int {
        unsafe Int(shim_int_field(raw, name, CInt(otherwise)))
    }
}

/// The timing of an animation's frames.
struct AnimationTiming: Sendable, Equatable {
    /// The duration of each frame in milliseconds.
    let delays: [Int]
    /// The number of plays; 0 means for ever.
    let loop: Int
}
