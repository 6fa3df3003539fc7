// SPDX-License-Identifier: Apache-2.0

/// A format that is never read here, known by its magic bytes so that a refusal can name it. What becomes an `ImageFormat`
/// is removed from here.
package enum UnreadableFormat: String, CaseIterable {
    case bmp = "BMP"
    case ico = "ICO"
    case pdf = "PDF"
    case psd = "PSD"
    case jpeg2000 = "JPEG 2000"

    /// Recognises a format by a source's first bytes; nil for anything else.
    package init?(sniffing prefix: [UInt8]) {
        guard let format = Self.allCases.first(where: { $0.begins(prefix) }) else { return nil }
        self = format
    }

    private func begins(_ bytes: [UInt8]) -> Bool {
        switch self {
        // Two letters alone begin many a text; the size of the second header is one of few.
        case .bmp:
            bytes.starts(with: "BM".utf8) && bytes.count >= 18 && bytes[15..<18].allSatisfy { $0 == 0 }
                && [12, 16, 40, 52, 56, 64, 108, 124].contains(bytes[14])
        // Icons and cursors, and at least one of them.
        case .ico:
            bytes.count >= 6 && bytes.starts(with: [0, 0]) && [1, 2].contains(bytes[2]) && bytes[3] == 0
                && bytes[4] != 0
        case .pdf: bytes.starts(with: "%PDF-".utf8)
        case .psd: bytes.starts(with: "8BPS".utf8)
        case .jpeg2000:
            bytes.starts(with: [0, 0, 0, 0x0C] + Array("jP  ".utf8))
                || bytes.starts(with: [0xFF, 0x4F, 0xFF, 0x51])
        }
    }
}
