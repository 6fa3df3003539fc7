// SPDX-License-Identifier: Apache-2.0

import Answering
import ArgumentParser

/// `imageproxyd serve`: runs the daemon until a signal stops it.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves images until SIGTERM or SIGINT.",
        discussion: """
            Settings come from built-in defaults, over them the file, over that the environment (IMAGEPROXYD_…), over \
            that flags. Sockets that systemd opened (LISTEN_FDS) stand in for addresses. SIGHUP has settings read again.
            """)

    @OptionGroup var settings: SettingsOptions

    func run() async throws {
        HangUpSignal.hold()
        let sockets = try inheritedSockets()
        let (configuration, files, _) = try settings.loadAll(sockets)
        try await Daemon.run(configuration: configuration, files: files, source: settings.source(sockets))
    }

    /// Must come first: the inherited descriptors must not be reused for other files, nor reach a worker.
    private func inheritedSockets() throws -> InheritedSockets {
        do throws(InheritedSockets.Failure) {
            return try InheritedSockets(from: ServiceManager())
        } catch {
            throw HostProcess.reported(error.description, SettingsOptions.wrongConfiguration)
        }
    }
}
