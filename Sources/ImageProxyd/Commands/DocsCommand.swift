// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Documents
import Foundation

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
        let files = DocumentPages.site(home: nil).files
        do {
            for (path, bytes) in files {
                let file = URL(fileURLWithPath: folder).appendingPathComponent(path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(bytes).write(to: file)
            }
        } catch {
            HostProcess.reportError("\(folder): \(error.localizedDescription)")
            throw ExitCode.failure
        }
        print("\(folder)/index.html")
    }
}
