// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// SQLite's write-ahead log, as far as it takes to see whether some of it was altered (sqlite.org/fileformat2, §4).
///
/// SQLite reads the log of a process that was killed up to the first frame that does not hold, and takes the rest for never
/// written: whatever was altered, that looks like a sound index which lacks the latest changes.
enum WriteAheadLog {
    private static let headerLength = 32
    private static let frameHeaderLength = 24
    private static let littleEndianMagic: UInt32 = 0x377F_0682
    private static let bigEndianMagic: UInt32 = 0x377F_0683
    private static let pageSizes = 512...65_536
    /// A longer log is not looked through, but taken for one that lacks something, in bytes.
    private static let maxLength: Int64 = 256 << 20

    /// Whether the log at `path` has frames that SQLite will not read, though they were written to be. Blocking; some
    /// milliseconds for the usual 16 MiB. False for a log that is not there.
    static func hasLostFrames(at path: String) -> Bool {
        let descriptor = unsafe linux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return false }
        let file = OwnedDescriptor(owning: descriptor)
        do throws(DiskCacheError) {
            let length = try file.length()
            guard length > headerLength else { return false }
            guard length <= maxLength,
                case .bytes(let log) = try file.read(Int(length), at: 0, fromMemory: false)
            else { return true }
            return hasLostFrames(log)
        } catch {
            // Whoever opens the index meets the same, and says so.
            return true
        }
    }

    /// Whether there is no log at `path`, or nothing in it: SQLite leaves that where it was closed, and none who was killed
    /// and had written anything.
    static func isMissing(at path: String) -> Bool {
        let descriptor = unsafe linux_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return true }
        // Lost: why it has no length; the files are looked through then.
        return ((try? OwnedDescriptor(owning: descriptor).length()) ?? 0) <= headerLength
    }

    /// Whether the bytes of a log have such frames. Pure.
    static func hasLostFrames(_ log: [UInt8]) -> Bool {
        guard log.count > headerLength else { return false }
        let magic = number(log, 0)
        guard magic == littleEndianMagic || magic == bigEndianMagic else { return true }
        let isBigEndian = magic == bigEndianMagic
        let pageSize = Int(number(log, 8))
        var sum = Sum()
        sum.add(log[..<24], isBigEndian: isBigEndian)
        guard sum == Sum(number(log, 24), number(log, 28)), pageSizes.contains(pageSize) else { return true }
        let salt = log[16..<24]
        let length = frameHeaderLength + pageSize
        var place = headerLength
        while place + length <= log.count {
            sum.add(log[place..<(place + 8)], isBigEndian: isBigEndian)
            sum.add(log[(place + frameHeaderLength)..<(place + length)], isBigEndian: isBigEndian)
            guard log[(place + 8)..<(place + 16)] == salt,
                sum == Sum(number(log, place + 16), number(log, place + 20))
            else { break }
            place += length
        }
        // What is left over from an earlier round of the log has another salt.
        while place + frameHeaderLength <= log.count {
            if log[(place + 8)..<(place + 16)] == salt { return true }
            place += length
        }
        return false
    }

    private static func number(_ log: [UInt8], _ place: Int) -> UInt32 {
        log[place..<(place + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The running checksum of header and frames.
    private struct Sum: Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        init(_ first: UInt32 = 0, _ second: UInt32 = 0) {
            (self.first, self.second) = (first, second)
        }

        mutating func add(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) {
            // Safe because both words lie within the bytes.
            unsafe bytes.withUnsafeBytes { bytes in
                for place in stride(from: 0, to: bytes.count - 7, by: 8) {
                    var one = unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
                    var two = unsafe bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
                    one = isBigEndian ? UInt32(bigEndian: one) : UInt32(littleEndian: one)
                    two = isBigEndian ? UInt32(bigEndian: two) : UInt32(littleEndian: two)
                    first = first &+ one &+ second
                    second = second &+ two &+ first
                }
            }
        }
    }
}
