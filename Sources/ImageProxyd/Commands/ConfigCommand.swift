// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Primitives

/// `imageproxyd config`: prints settings as a file that `serve` accepts.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Prints every setting with its value.")

    @Flag(help: "Print the built-in defaults, whatever the file and the environment say.")
    var defaults = false

    @OptionGroup var settings: SettingsOptions

    func run() throws {
        let tree =
            defaults
            ? ProxyConfiguration.defaults
            : ProxyConfiguration.settings.json(of: try settings.load().withoutSecrets)
        print(tree.pretty())
    }
}
