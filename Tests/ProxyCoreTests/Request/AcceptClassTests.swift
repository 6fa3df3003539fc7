// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging
@testable import Request

@Suite("The class of an Accept field (RFC 9110 §12.5.1)")
struct AcceptClassTests {
    private func formats(_ accept: String, _ configured: [ImageFormat] = [.avif, .webp]) -> [ImageFormat] {
        Array(accept.utf8).withUnsafeBytes { bytes in
            unsafe AcceptClass(accept: bytes, candidates: AutomaticFormats(configured)).formats
        }
    }

    @Test("Every format that is written has a place among the automatic ones, and a number of four bits")
    func count() {
        #expect(ImageFormat.allCases.count { $0.traits.isWritable } <= AutomaticFormats.maximumCount)
        #expect(ImageFormat.allCases.count < 16)
    }

    @Test(
        "lists the configured formats that the field names, best first",
        arguments: [
            ("image/avif,image/webp,image/apng,*/*;q=0.8", [ImageFormat.avif, .webp]),
            ("image/webp,image/avif", [.avif, .webp]),
            ("image/webp,image/avif;q=0.5", [.webp, .avif]),
            ("IMAGE/WebP", [.webp]),
            ("image/webp;q=0", []),
            ("image/webp;q=0.000, image/avif;q=0.001", [.avif]),
            ("image/*", []), ("*/*", []), ("", []), (",,", []),
            ("image/webp ; q=1.000", [.webp]),
            ("image/webp;level=\"a,b;q=0\";q=0.5", [.webp]),
            ("image/webp;q=1.001", []), ("image/webp;q=2", []), ("image/webp;q=", []),
            ("image/webp;q=0.1234", []),
            ("image/webpx", []), ("image/jpeg", []),
        ])
    func table(accept: String, expected: [ImageFormat]) {
        #expect(formats(accept) == expected)
    }

    @Test("is the same for any two spellings of one preference")
    func canonical() {
        let classes = ["image/avif, image/webp", "image/webp;q=0.9, text/html, image/avif;q=0.9"].map {
            text in
            Array(text.utf8).withUnsafeBytes { bytes in
                unsafe AcceptClass(accept: bytes, candidates: AutomaticFormats([.avif, .webp]))
            }
        }

        #expect(classes[0] == classes[1])
    }
}
