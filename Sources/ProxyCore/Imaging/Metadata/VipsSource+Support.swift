// SPDX-License-Identifier: Apache-2.0

extension VipsSource {
    /// Throws `unsupportedFormat` for files that Debian 12's libraries would decode wrongly: libvips 8.14.1
    /// returns the last frame of a JPEG XL animation for the whole, and misinterprets some sample formats of
    /// TIFF.
    borrowing func checkSupport(of format: ImageFormat, page: Int) throws(ImagingError) {
        var flaw: String?
        unsafe withBytes { (file) throws(Never) in
            switch format {
            case .jxl: flaw = unsafe JXLHeader(file)?.isAnimated ?? false ? "animated JPEG XL" : nil
            case .tiff: flaw = unsafe TIFFPage(file, index: page)?.unsupported
            default: break
            }
        }
        if let flaw { throw .unsupportedFormat(flaw) }
    }
}
