// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder of a test's own, removed with everything in it when the last reference goes.
public final class TemporaryDirectory: Sendable {
    /// The folder's path.
    public let path: String

    /// Creates the folder.
    public init() throws {
        path = NSTemporaryDirectory() + "imageproxyd-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // Ignored: what could not be removed; the system clears its temporary folder.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The paths of all files below, relative to the folder, sorted.
    public var files: [String] {
        let found = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return found.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    /// The content of a file.
    public func read(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
    }

    /// Writes a file in place, keeping its inode, or creates it with the folders above it.
    public func write(_ bytes: [UInt8], to name: String) throws {
        let file = path + "/" + name
        let folder = (file as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
    }

    /// Writes a program, such as a script.
    ///
    /// Another process makes the copy that can be executed: a file that this one has open for writing is open in
    /// every process that it starts meanwhile, too, and can't be executed then (ETXTBSY).
    public func writeProgram(_ text: String, to name: String) async throws {
        try write(Array(text.utf8), to: name + ".text")
        defer { unlink(path + "/" + name + ".text") }
        let copied = try await OtherProgram.run(
            "/usr/bin/install", ["-m", "755", path + "/" + name + ".text", path + "/" + name])
        guard copied.code == 0 else { throw DaemonProcess.Failure(description: copied.errors) }
    }

    /// Removes a file or folder.
    public func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path + "/" + name)
    }

    /// Moves a file or folder.
    public func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: path + "/" + name, toPath: path + "/" + other)
    }
}
