// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `imageproxyd check-config`: says what is wrong with the settings, all of it at once.
struct CheckConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Checks the settings that serve would run with; exits with 78 when they are wrong.")

    @OptionGroup var settings: SettingsOptions

    func run() throws {
        _ = try settings.loadAll()
        print("configuration is fine")
    }
}
