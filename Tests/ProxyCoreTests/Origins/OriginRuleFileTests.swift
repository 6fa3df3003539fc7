// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import TestSupport
import Testing

@testable import Origins

@Suite("The files of an origin rule")
struct OriginRuleFileTests {
    private let folder = try! TemporaryDirectory()

    private func failure(_ change: (inout OriginRuleConfiguration) -> Void) -> String? {
        var rule = OriginRuleConfiguration()
        rule.match = ["https://a.example/*"]
        change(&rule)
        do throws(OriginRuleError) {
            _ = try OriginRules([rule], secrets: SecretReader(credentialsDirectory: folder.path))
            return nil
        } catch {
            return error.description
        }
    }

    @Test("include a folder for the loader `file`")
    func roots() throws {
        try folder.write([1], to: "file")
        let root: (String) -> (inout OriginRuleConfiguration) -> Void = { path in
            { ($0.loader, $0.root) = (.file, path) }
        }

        #expect(failure(root(folder.path)) == nil)
        let useless: [(inout OriginRuleConfiguration) -> Void] = [
            { $0.decode = .base64 }, { $0.responseContentType = ["image/png"] }, { $0.acceptStatus = [200] },
            { $0.maxConcurrent = 1 },
        ]
        for change in useless {
            let reason = failure { rule in
                root(folder.path)(&rule)
                change(&rule)
            }
            #expect(reason?.hasPrefix("origins.0.loader: files know no ") == true)
        }
        #expect(failure(root(folder.path + "/none"))?.hasPrefix("origins.0.root: ") == true)
        #expect(failure(root(folder.path + "/file"))?.hasPrefix("origins.0.root: ") == true)
    }

    @Test("include a PEM file with a certificate for `ca` (RFC 7468)")
    func certificates() throws {
        let origin = try TLSOrigin(file: "a.png", [1])
        let ca: (String) -> (inout OriginRuleConfiguration) -> Void = { path in
            {
                $0.tls = OriginRuleConfiguration.TLS()
                $0.tls?.ca = path
            }
        }
        let broken = [
            "", "no PEM", "-----BEGIN CERTIFICATE-----\nMIIB\n",
            "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
            "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ]

        #expect(failure(ca(origin.certificate)) == nil)
        for text in broken {
            try folder.write(Array(text.utf8), to: "ca.pem")
            #expect(failure(ca(folder.path + "/ca.pem"))?.hasPrefix("origins.0.tls.ca: ") == true, "\(text)")
        }
        #expect(failure(ca(folder.path))?.hasPrefix("origins.0.tls.ca: ") == true)
    }

    @Test("include short regular text files for secrets; reading a pipe does not block")
    func secrets() throws {
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        try folder.write([], to: "empty")
        try folder.write(Array("a\r\nX-Evil: 1".utf8), to: "two-lines")
        try folder.write([0xFF, 0xFE], to: "bytes")
        try folder.write([UInt8](repeating: 0x61, count: 65_537), to: "large")
        try folder.write(Array("open sesame\r\n".utf8), to: "good")
        let token: (String) -> (inout OriginRuleConfiguration) -> Void = { name in
            { $0.auth = .bearer(.credential(name)) }
        }

        #expect(failure(token("good")) == nil)
        for name in ["pipe", "empty", "two-lines", "bytes", "large", "none"] {
            #expect(failure(token(name))?.hasPrefix("origins.0.auth: ") == true, "\(name)")
        }
        #expect(failure { $0.auth = .bearer(.file("/dev/zero")) }?.hasPrefix("origins.0.auth: ") == true)
        #expect(
            failure { $0.requestHeaders = ["X-A": .credential("pipe")] }?.hasPrefix(
                "origins.0.requestHeaders: ")
                == true)
    }
}
