// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cache
@testable import Primitives

@Suite("The lock of the disk tier's folder")
struct FolderLockTests {
    private let place: TemporaryDirectory
    private let folder: DiskFolder
    private let other: FolderLock

    /// Another daemon has the folder.
    init() throws {
        place = try TemporaryDirectory()
        folder = try DiskFolder(path: place.path)
        other = try FolderLock(folder: folder, lockTimeout: .zero)
    }

    @Test("It is tried every 20 ms until the time is up")
    func heldForGood() {
        var pauses: [UInt32] = []

        #expect(throws: DiskCacheError.locked(place.path)) {
            try FolderLock(folder: folder, lockTimeout: .milliseconds(100)) { pauses.append($0) }
        }

        #expect(pauses == Array(repeating: 20_000, count: 5))
    }

    @Test("It is had as soon as another daemon has finished, which left the folder in order")
    func released() throws {
        var pauses = 0

        let lock = try FolderLock(folder: folder, lockTimeout: .milliseconds(100)) { _ in
            pauses += 1
            if pauses == 3 { other.release(isScanned: true) }
        }

        #expect(pauses == 3)
        #expect(!lock.needsScan)
    }

    @Test("A folder that was left in order before it had been scanned is scanned, and counts as trusted")
    func unscanned() throws {
        try other.markInUse()
        other.release(isScanned: false)

        let lock = try FolderLock(folder: folder, lockTimeout: .zero)

        #expect(lock.needsScan && !lock.wasCutOff)
        try lock.markInUse()
        lock.release(isScanned: true)
        #expect(try !FolderLock(folder: folder, lockTimeout: .zero).needsScan)
    }
}
