// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The inputs that fuzzing starts from: `Tests/Fixtures/http/KIND-*.bin`.
public enum Corpus {
    /// Every input of a kind, in the order of their names.
    public static func inputs(_ kind: String) -> [[UInt8]] {
        let source: StaticString = #filePath
        let tests = "\(source)".split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        guard let folder = opendir(tests.joined(separator: "/") + "/Fixtures/http") else {
            fatalError("no corpus")
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(kind + "-"), name.hasSuffix(".bin") { names.append(name) }
        }
        return names.sorted().map { Fixtures.read("http/\($0)") }
    }

    /// How many inputs a test tries: `FUZZ_INPUTS` for a long run, else enough for a short one.
    public static func count(_ short: Int) -> Int {
        getenv("FUZZ_INPUTS").flatMap { Int(String(cString: $0)) } ?? short
    }

    /// Where the inputs begin: `FUZZ_SEED` for others than the usual ones.
    public static var seed: UInt64 { getenv("FUZZ_SEED").flatMap { UInt64(String(cString: $0)) } ?? 1 }
}
