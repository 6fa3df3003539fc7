// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTPServer

/// Serves a folder of pictures on a loopback port until it is ended: `demo-origin FOLDER [ADDRESS]`.
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
        ) { seconds in Array(imfFixdate(seconds).utf8) }
        for bound in try server.listen(on: [address]) { print("\(bound)") }
        try server.start()
        // Whoever reads the address through a pipe needs it now.
        fflush(nil)
        while true { try await Task.sleep(for: .seconds(3_600)) }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    static func imfFixdate(_ seconds: Int64) -> String {
        var (time, parts) = unsafe (time_t(seconds), tm())
        unsafe gmtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = unsafe strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
