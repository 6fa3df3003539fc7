// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Hot path: decodes UTF-8; nil if it is invalid.
    ///
    /// Equals `String(validating:as:)`, at a quarter of its cost if all octets are ASCII, which is the usual
    /// case.
    package init?(validOctets octets: ArraySlice<UInt8>) {
        guard octets.allSatisfy({ $0 < 0x80 }) else {
            self.init(validating: octets, as: UTF8.self)
            return
        }
        self.init(decoding: octets, as: UTF8.self)
    }

    /// Hot path: whether the text's UTF-8 is exactly these octets.
    package func isSpelled(_ octets: ArraySlice<UInt8>) -> Bool {
        let (own, other) = (utf8.span, octets.span)
        guard own.count == other.count else { return false }
        for place in own.indices where own[place] != other[place] { return false }
        return true
    }
}
