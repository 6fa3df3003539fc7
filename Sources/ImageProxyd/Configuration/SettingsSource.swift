// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer

/// Where the settings come from: the file and the flags of the command line, and the environment.
struct SettingsSource: Sendable {
    /// The file; nil when there is none.
    var file: String?
    /// `--listen`, when given.
    var listen: [String] = []
    /// The sockets that systemd opened in place of `listen` and `admin.listen`.
    var sockets = InheritedSockets()

    /// Reads the settings, and the files that they name.
    /// - Parameter skipsCredentials: see `NamedFiles`.
    /// - Throws: all problems with them.
    func read(
        skipsCredentials: Bool = false
    ) throws -> (configuration: ProxyConfiguration, files: NamedFiles, places: SettingPlaces) {
        let (configuration, places) = try settings()
        do throws(ConfigurationError) {
            return (configuration, try NamedFiles(configuration, skipsCredentials: skipsCredentials), places)
        } catch {
            throw places.located(error)
        }
    }

    /// Reads the settings alone.
    /// - Throws: `ConfigurationError`; `HostProcess.Failure` if the file can't be read.
    func settings() throws -> (configuration: ProxyConfiguration, places: SettingPlaces) {
        var sources = ConfigurationLoader.Sources(environment: HostProcess.environment, listen: listen)
        sources.inherited = (
            sockets.serving.map(\.address.description), sockets.admin.map(\.address.description),
            sockets.metrics.map(\.address.description)
        )
        if let file {
            do throws(HostProcess.Failure) {
                sources.file = (file, try HostProcess.contents(of: file))
            } catch {
                throw HostProcess.Failure(description: "\(file): \(error)")
            }
        }
        return try ConfigurationLoader.load(sources)
    }
}
