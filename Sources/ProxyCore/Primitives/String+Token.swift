// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether the text is a token (RFC 9110 §5.6.2), as the name of a field is.
    package var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}
