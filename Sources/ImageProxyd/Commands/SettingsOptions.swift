// SPDX-License-Identifier: Apache-2.0

import Answering
import ArgumentParser

/// The options of every command that needs the settings.
struct SettingsOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: "The file with the settings, in JSON.",
        completion: .file(extensions: ["json"]))
    var config: String?

    @Option(
        name: .shortAndLong,
        help: "An address to serve on, such as 127.0.0.1:8080, [::1]:8080 or unix:/path; may be repeated.")
    var listen: [String] = []

    /// Returns the settings; if they are invalid, prints all errors and exits with 78 (EX_CONFIG of
    /// sysexits(3)).
    func load(_ sockets: InheritedSockets = InheritedSockets()) throws -> ProxyConfiguration {
        try Self.complaining { try source(sockets).settings().configuration }
    }

    /// Says all that is wrong with settings, and ends with 78.
    static func complaining<Value>(_ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let error as ConfigurationError {
            throw HostProcess.reported(error.description, wrongConfiguration)
        } catch let error as HostProcess.Failure {
            throw HostProcess.reported(error.description, wrongConfiguration)
        }
    }

    /// The source of the settings, for a reload.
    /// - Parameter sockets: the sockets that systemd opened in place of addresses.
    func source(_ sockets: InheritedSockets = InheritedSockets()) -> SettingsSource {
        SettingsSource(file: config, listen: listen, sockets: sockets)
    }

    /// Returns the settings with the contents of the files that they name; if any of it is invalid, exits
    /// likewise.
    func loadAll(
        _ sockets: InheritedSockets = InheritedSockets(), skipsCredentials: Bool = false
    ) throws -> (configuration: ProxyConfiguration, files: NamedFiles, places: SettingPlaces) {
        try Self.complaining { try source(sockets).read(skipsCredentials: skipsCredentials) }
    }

    /// EX_CONFIG of sysexits(3).
    static let wrongConfiguration = ExitCode(78)
}
