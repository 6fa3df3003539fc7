// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bodies
import Documents
internal import Glibc
import Primitives

/// `imageproxyd docs`: writes the documentation as a static site.
struct DocsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docs",
        abstract: "Writes the documentation as a static site into a folder.",
        discussion: "The daemon serves the same at /docs/. Files of the same names are replaced, others stay."
    )

    @Argument(help: "The folder, which is made if it is missing.")
    var folder: String

    func run() throws {
        for (path, bytes) in DocumentPages.site(home: nil).files {
            let place = "\(folder)/\(path)"
            try makeFolders(above: place)
            let file = try OutputFile(place)
            try file.descriptor.writeAll(bytes, at: 0)
            try file.finish(byteCount: bytes.count)
        }
        print("\(folder)/index.html")
    }

    /// Makes the folders of a file that are missing.
    private func makeFolders(above file: String) throws {
        for slash in file.indices.dropFirst() where file[slash] == "/" {
            let path = String(file[..<slash])
            guard unsafe mkdir(path, 0o777) != 0, errno != EEXIST else { continue }
            throw HostProcess.reported("\(path) can't be made: \(systemErrorText(errno))")
        }
    }
}
