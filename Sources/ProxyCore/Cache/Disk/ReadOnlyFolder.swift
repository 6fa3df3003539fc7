// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A folder of earlier entries, in the layout of a cache folder; read, never written (SDWebImage:
/// additionalCachePathBlock).
final class ReadOnlyFolder: Sendable {
    let folder: DiskFolder
    /// Its entries; complete once it has been scanned.
    let entries = EntrySet()

    /// Opens the folder, and starts to scan it on a thread of its own.
    /// - Throws: `readOnlyFolder` if that fails.
    init(path: String) throws(DiskCacheError) {
        do {
            folder = try DiskFolder(path: path, creates: false)
        } catch {
            throw .readOnlyFolder(path, because: "\(error)")
        }
        DispatchQueue(label: "read-only folder loader").async { [weak self] in self?.load() }
    }

    private func load() {
        for shard in DiskFolder.Shard.all {
            // Ignored: why a folder can't be read; the set stays incomplete, and each look-up queries the file
            // system.
            guard let names = try? folder.names(in: shard.path) else { return }
            for key in names.compactMap(EntryPath.key(ofName:)) {
                entries.insert(EntryID(kind: shard.kind, key: key))
            }
        }
        entries.markComplete()
    }
}
