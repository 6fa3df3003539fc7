// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The orientation in XMP (XMP specification part 2 §2.7, `tiff:Orientation`).
enum XMPOrientation {
    private static let name = Array("tiff:Orientation".utf8)
    private static let spaces = Set(" \t\r\n".utf8)

    /// Returns the packet with the orientation set to upright; nil if it contains no other. O(bytes).
    static func upright(_ packet: [UInt8]) -> [UInt8]? {
        var changed = packet
        var place = packet.startIndex
        while let start = packet[place...].firstIndex(of: name[0]) {
            place = start + 1
            guard packet[start...].starts(with: name), let digit = value(in: packet, from: start + name.count)
            else { continue }
            changed[digit] = UInt8(ascii: "1")
        }
        return changed == packet ? nil : changed
    }

    /// The position of the digit in an attribute, or in an element, whose name ends at `start`.
    private static func value(in packet: [UInt8], from start: Int) -> Int? {
        var rest = packet[start...].drop(while: spaces.contains)
        guard let mark = rest.popFirst() else { return nil }
        rest = rest.drop(while: spaces.contains)
        switch mark {
        case UInt8(ascii: "="):
            guard let quote = rest.popFirst(), "\"'".utf8.contains(quote) else { return nil }
        case UInt8(ascii: ">"): break
        default: return nil
        }
        rest = rest.drop(while: spaces.contains)
        let digits = rest.prefix(while: \.isASCIIDigit)
        return digits.count == 1 ? digits.startIndex : nil
    }
}
