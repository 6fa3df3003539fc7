// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `imageproxyd version`: prints the release.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Prints the version.")

    func run() {
        print("imageproxyd \(Version.current)")
    }
}
