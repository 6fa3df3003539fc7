// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `imageproxyd serve`: runs the daemon until it is told to stop.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves images until SIGTERM or SIGINT.",
        discussion: """
            Settings come from built-in defaults, over them the file, over that the environment (IMAGEPROXYD_…), over \
            that flags. SIGHUP has them read again.
            """)

    @OptionGroup var settings: SettingsOptions

    func run() async throws {
        let (configuration, files) = try settings.loadAll()
        try await Daemon.run(configuration: configuration, files: files, source: settings.source)
    }
}
