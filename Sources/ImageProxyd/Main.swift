// SPDX-License-Identifier: Apache-2.0

import ProxyCore

@main
enum Main {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "worker" { WorkerMain.run() }
    }
}
