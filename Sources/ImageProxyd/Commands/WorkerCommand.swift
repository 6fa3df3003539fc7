// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ProxyCore

/// `imageproxyd worker`: what the daemon starts for pixels; of no use to anybody else.
struct WorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Renders pictures for the daemon.", shouldDisplay: false)

    func run() {
        WorkerMain.run()
    }
}
