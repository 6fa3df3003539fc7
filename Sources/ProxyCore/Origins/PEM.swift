// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Objects in base64 between two lines that name them (RFC 7468).
enum PEM {
    /// The tag of a SEQUENCE, which a certificate is (RFC 5280 §4.1).
    private static let sequence: UInt8 = 0x30

    /// Whether a file contains a certificate, as far as its first bytes show.
    static func holdsCertificate(_ bytes: [UInt8]) -> Bool {
        var body: [UInt8]?
        for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            if line.starts(with: "-----BEGIN ".utf8) {
                body = isCertificate(line) ? [] : nil
            } else if line.starts(with: "-----END ".utf8) {
                if let body, Base64.decode(body)?.first == sequence { return true }
                body = nil
            } else {
                body? += line
            }
        }
        return false
    }

    /// Whether a line begins a certificate, by the standard name or OpenSSL's two others.
    private static func isCertificate(_ line: ArraySlice<UInt8>) -> Bool {
        ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains {
            line.starts(with: "-----BEGIN \($0)-----".utf8)
        }
    }

}
