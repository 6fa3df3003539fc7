// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import Testing

@testable import Loading

@Suite("What fetches set of OpenSSL")
struct TLSContextTests {
    private typealias Method = @convention(c) () -> OpaquePointer?
    private typealias New = @convention(c) (OpaquePointer?) -> UnsafeMutableRawPointer?
    private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void
    private typealias Control =
        @convention(c) (UnsafeMutableRawPointer?, CInt, Int, UnsafeMutableRawPointer?) -> Int

    private func function<Function>(_ name: String, as type: Function.Type) throws -> Function {
        unsafeBitCast(try #require(dlsym(nil, name)), to: type)
    }

    @Test(
        "A read ends after each message that is no data, so that one that is sent without end keeps no thread"
    )
    func messages() throws {
        let context = try function("SSL_CTX_new", as: New.self)(
            function("TLS_client_method", as: Method.self)())
        defer { try? function("SSL_CTX_free", as: Free.self)(context) }
        let control = try function("SSL_CTX_ctrl", as: Control.self)
        // SSL_CTRL_MODE, of which 4 is SSL_MODE_AUTO_RETRY.
        let mode = { control(context, 33, 0, nil) & 4 }
        #expect(mode() == 4, "OpenSSL's default")

        var watcher = 0
        #expect(ccurl_watch(context, &watcher) { _, _, _ in } == CURLE_OK)

        #expect(mode() == 0)
    }
}
