// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging

@Suite("Owners in metadata")
struct OwnershipTests {
    @Test(
        "Owners are read without the space around them, and cut to a thousand bytes",
        arguments: [
            (String(repeating: " ", count: 400_000) + "Ada" + String(repeating: " ", count: 400_000), "Ada"),
            (
                "Ada" + String(repeating: "\u{1F1E6}", count: 40_000),
                "Ada" + String(repeating: "\u{1F1E6}", count: 249)
            ),
            (String(repeating: "é", count: 600), String(repeating: "é", count: 500)),
            ("\u{1}\u{2} \u{3}", nil),
        ] as [(String, String?)])
    func longOwners(text: String, wanted: String?) {
        let found = Ownership(exif: nil, iptc: nil, xmp: nil, comments: ["Author": text])
        #expect(found.artist == wanted)
        let packet = "<x><dc:creator><rdf:Seq><rdf:li a='b'>\(text)</rdf:li></rdf:Seq></dc:creator></x>"
        #expect(Ownership(exif: nil, iptc: nil, xmp: Array(packet.utf8), comments: [:]).artist == wanted)
    }

    @Test("Owners in XMP may have references of characters, and an element without an end has none")
    func ownersOfXMP() {
        func rights(_ text: String) -> String? {
            Ownership(exif: nil, iptc: nil, xmp: Array(text.utf8), comments: [:]).copyright
        }
        #expect(rights("<<dc:rights>A &amp; B &lt;c&gt; &x</dc:rights>") == "A & B <c> &x")
        #expect(
            rights("<dc:rights>" + String(repeating: "&quot;", count: 2_000) + "</dc:rights>")
                == String(repeating: "\"", count: 1_000))
        #expect(rights("<dc:rights>A") == nil)
        #expect(rights("<dc:rights</dc:rights>") == nil)
    }
}
