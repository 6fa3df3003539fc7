// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Scanning many octets at a time")
struct OctetsTests {
    /// Every octet at every position of a line, alone and after another that ends a target too.
    @Test("A target ends at the first octet that no target contains, wherever that stands")
    func targetEnd() {
        for length in Array(0...20) + [31, 32, 33, 40] {
            for place in 0..<length {
                for octet in UInt8.min ... .max {
                    var line = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                    line[place] = octet
                    let plain = line.firstIndex { !OctetSet.target.contains($0) } ?? length
                    #expect(line.span.targetEnd(0..<length) == plain)
                    guard place + 1 < length else { continue }
                    line[place + 1] = UInt8(ascii: " ")
                    let behind = line.firstIndex { !OctetSet.target.contains($0) } ?? length
                    #expect(line.span.targetEnd(0..<length) == behind)
                }
            }
        }
    }

    @Test("The scan for a target's end stays within the range")
    func targetRange() {
        let line = Array("  /abcdefghij  ".utf8)
        #expect(line.span.targetEnd(2..<13) == 13)
        #expect(line.span.targetEnd(2..<7) == 7)
        #expect(line.span.targetEnd(2..<2) == 2)
        #expect(line.span.targetEnd(2..<15) == 13)
    }

    @Test("One octet decides whether bytes are a field value, wherever it stands (RFC 9110 §5.5)")
    func fieldText() {
        for length in 0...20 {
            for place in 0..<length {
                for octet in UInt8.min ... .max {
                    var value = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                    value[place] = octet
                    #expect(value.span.isFieldText(0..<length) == Octet.isFieldText(octet))
                }
            }
        }
    }

    @Test(
        "A known name is recognized in any case, and no other name of its length is",
        arguments: KnownField.allCases)
    func knownField(_ field: KnownField) {
        let name = Array("\(field.name)".utf8)
        for spelling in [
            name, Array("\(field.name)".lowercased().utf8), Array("\(field.name)".uppercased().utf8),
        ] {
            #expect(KnownField(spelling.span, 0..<spelling.count) == field)
        }
        for place in name.indices {
            var other = name
            for octet in UInt8.min ... .max where Octet.lower(octet) != Octet.lower(name[place]) {
                other[place] = octet
                #expect(KnownField(other.span, 0..<other.count) != field)
            }
        }
    }
}
