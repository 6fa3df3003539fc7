// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// `imageproxyd check-config`: prints everything that is wrong with the settings.
struct CheckConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Checks the settings that serve would run with; exits with 78 when they are wrong.",
        discussion: """
            Files and folders are looked at as the user who checks. Root may read all: --user NAME checks as the user that \
            the daemon runs as, such as nobody for a unit with DynamicUser=.
            """)

    @Option(help: "Check as this user; for root.")
    var user: String?

    @OptionGroup var settings: SettingsOptions

    func run() throws {
        if let user { try switchUser(user) }
        let (configuration, _, places) = try settings.loadAll(skipsCredentials: true)
        let problems =
            configuration.folderProblems(ofOtherUser: user != nil) + configuration.log.journalProblems()
        guard problems.isEmpty else {
            let error = places.located(ConfigurationError(issues: problems))
            throw HostProcess.reported(error.description, SettingsOptions.wrongConfiguration)
        }
        for name in ConfigurationLoader.ignoredVariables(in: HostProcess.environment) {
            HostProcess.reportError("environment \(name): ignored, Kubernetes sets it for a Service")
        }
        let warnings = configuration.warnings()
        for warning in warnings { HostProcess.reportError("warning: \(warning)") }
        print("configuration is fine" + (warnings.isEmpty ? "" : ", but for the warnings"))
    }

    /// Exchanges root's rights for another user's.
    private func switchUser(_ name: String) throws {
        // Safe because the entry is read at once, on the only thread that calls getpwnam.
        guard let entry = unsafe getpwnam(name) else { throw ValidationError("there is no user \(name)") }
        let (user, group) = unsafe (entry.pointee.pw_uid, entry.pointee.pw_gid)
        guard unsafe initgroups(name, group) == 0, setgid(group) == 0, setuid(user) == 0 else {
            throw ValidationError("only root can check as \(name)")
        }
    }
}
