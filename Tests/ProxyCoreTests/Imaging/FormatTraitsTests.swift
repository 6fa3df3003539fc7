// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging

@Suite("Traits of formats")
struct FormatTraitsTests {
    @Test("A format's number in stored files never changes")
    func storedCodes() {
        let codes = ImageFormat.allCases.map { ($0, $0.traits.storedCode) }

        #expect(
            Dictionary(uniqueKeysWithValues: codes) == [
                .jpeg: 1, .png: 2, .webp: 3, .avif: 4, .gif: 5, .heic: 6, .tiff: 7, .jxl: 8, .svg: 9,
            ])
    }

    @Test(
        "Traits belong to their format, and no file begins with the signatures of two",
        arguments: ImageFormat.allCases)
    func signatures(format: ImageFormat) {
        let others = ImageFormat.allCases.filter { $0 != format }.flatMap { $0.coder.signatures }

        #expect(format.traits.format == format)
        #expect(
            format.coder.signatures.allSatisfy { own in
                others.allSatisfy { !$0.starts(with: own) && !own.starts(with: $0) }
            })
    }

    @Test("What browsers show, every worker can write without configuration")
    func shown() {
        #expect(ImageFormat.shownByBrowsers == [.jpeg, .png, .webp, .avif, .gif])
        #expect(ImageFormat.shownByBrowsers.allSatisfy { $0.isWritable(decoding: []) })
        #expect(!ImageFormat.jxl.isWritable(decoding: []) && ImageFormat.jxl.isWritable(decoding: [.jxl]))
    }

    @Test("A format that is read only is not written")
    func readOnly() throws {
        try VipsLibrary.start()
        let picture = try VipsImage.uniform(.black, size: PixelSize(2, 2))

        for format in ImageFormat.allCases where !format.traits.isWritable {
            #expect(throws: ImagingError.self) {
                _ = try VipsCoder.encode(picture, RenderPlan().settings(for: format)).count
            }
        }
    }
}
