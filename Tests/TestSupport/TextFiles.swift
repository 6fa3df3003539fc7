// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Texts of the repository that tests check; paths are relative to its root.
public enum TextFiles {
    /// The absolute path of a file.
    public static func path(_ path: String) -> String { root + path }

    /// The text of a file anywhere, empty if it can't be read.
    public static func contents(ofFile path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// The text of a file.
    public static func read(_ path: String) -> String {
        guard let file = fopen(root + path, "r") else { fatalError("no file \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }

    /// Replaces the text of a file.
    public static func write(_ text: String, to path: String) {
        guard let file = fopen(root + path, "w") else { fatalError("no file \(path)") }
        fputs(text, file)
        fclose(file)
    }

    /// The text of every Swift source in a folder and the folders in it.
    public static func swift(below folder: String) -> [String] {
        guard let entries = opendir(root + folder) else { fatalError("no folder \(folder)") }
        defer { closedir(entries) }
        var texts: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            if name.hasSuffix(".swift") {
                texts.append(read("\(folder)/\(name)"))
            } else if !name.contains(".") {
                texts += swift(below: "\(folder)/\(name)")
            }
        }
        return texts
    }

    private static var root: String {
        let source: StaticString = #filePath
        let folders = "\(source)".split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        return folders.joined(separator: "/") + "/"
    }
}
