// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How many scans a JPEG file has (ITU-T T.81 §B.2), counted without a decoder: each costs one as much as all of a picture.
enum JPEGScans {
    /// Most scans of a picture: encoders write about ten.
    static let limit = 64

    /// Codes behind 0xFF that have no length and no end of a scan: stuffed zeros, restarts, the start of the file.
    private static let startOfScan: UInt8 = 0xDA
    private static let endOfImage: UInt8 = 0xD9

    /// Counts up to one beyond the limit. O(bytes).
    static func count(in file: UnsafeRawBufferPointer) -> Int {
        var scans = 0
        var place = 2
        while scans <= limit, let marker = unsafe nextMarker(in: file, from: place) {
            let code = unsafe file[marker + 1]
            if code == endOfImage { break }
            if code == startOfScan { scans += 1 }
            guard marker + 4 <= file.count else { break }
            place = unsafe marker + 2 + max(2, Int(file[marker + 2]) << 8 | Int(file[marker + 3]))
        }
        return scans
    }

    /// The next 0xFF with a code that is none of those within a scan.
    private static func nextMarker(in file: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var place = start
        while place + 1 < file.count, let base = file.baseAddress {
            guard let found = unsafe memchr(base + place, 0xFF, file.count - place - 1) else { return nil }
            place = unsafe UnsafeRawPointer(found) - base
            let code = unsafe file[place + 1]
            if code != 0, code != 0xFF, code != 0x01, !(0xD0...0xD8).contains(code) { return place }
            place += code == 0xFF ? 1 : 2
        }
        return nil
    }
}
