// SPDX-License-Identifier: Apache-2.0

extension ImageFormat {
    /// The format's number in entry files; once given, a number never changes its meaning.
    var storedCode: UInt8 {
        switch self {
        case .jpeg: 1
        case .png: 2
        case .webp: 3
        case .avif: 4
        case .gif: 5
        case .heic: 6
        case .tiff: 7
        case .jxl: 8
        case .svg: 9
        }
    }

    /// The format with this number; nil when there is none.
    init?(storedCode: UInt8) {
        guard let format = Self.allCases.first(where: { $0.storedCode == storedCode }) else { return nil }
        self = format
    }
}
