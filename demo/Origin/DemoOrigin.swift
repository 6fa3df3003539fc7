// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTPServer

/// Serves a folder of pictures on a loopback port until it is stopped: `demo-origin FOLDER [ADDRESS]`.
@main
enum DemoOrigin {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else {
            print("usage: demo-origin FOLDER [ADDRESS]")
            exit(64)
        }
        let address = try HTTPServer.Address(parsing: arguments.count > 2 ? arguments[2] : "127.0.0.1:0")
        let server = try HTTPServer(
            configuration: HTTPServer.Configuration(), handler: FolderOrigin(folder: arguments[1])
        )
        for bound in try server.listen(on: [address]) { print("\(bound)") }
        try server.start()
        // A reader of the address at the end of a pipe needs it now.
        fflush(nil)
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }
}
