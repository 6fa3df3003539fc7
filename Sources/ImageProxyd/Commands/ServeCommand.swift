// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `imageproxyd serve`: runs the daemon until it is told to stop.
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
        let sockets = try inheritedSockets()
        let (configuration, files, _) = try settings.loadAll(sockets)
        try await Daemon.run(configuration: configuration, files: files, source: settings.source(sockets))
    }

    /// First of all: what systemd opened gets no number of another file, and reaches no worker.
    private func inheritedSockets() throws -> InheritedSockets {
        do throws(InheritedSockets.Failure) {
            return try InheritedSockets(from: ServiceManager())
        } catch {
            HostProcess.complain(error.description)
            throw ExitCode(SettingsOptions.wrongConfiguration)
        }
    }
}
