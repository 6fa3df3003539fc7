// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ProxyCore

/// `imageproxyd worker`: the process that computes pixels; started by the daemon only.
struct WorkerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Renders pictures for the daemon.", shouldDisplay: false)

    func run() {
        WorkerMain.run()
    }
}
