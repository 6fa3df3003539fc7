// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

/// What nodes share.
extension CheckConfigTests {
    @Test(
        "check-config reports nodes and a shared bucket that can never work",
        arguments: [
            (#""cluster": {"peers": ["10.0.0.1"]}"#, "cluster.peers"),
            (#""cluster": {"peers": ["10.0.0.1:80"]}"#, "cluster.key: expected a file with a key"),
            (
                #""cluster": {"forward": true}"#,
                "cluster.forward: true is not allowed, expected cluster.peers with it"
            ),
            (#""cluster": {"address": "x"}"#, "cluster.address"),
            (
                #""shared": {"bucket": {"url": "s3://*/", "region": "r"}, "auth": {"type": "awsSigV4"}}"#,
                "shared.bucket: expected a bucket with a name, such as s3://pictures/"
            ),
            (#""shared": {"bucket": {"url": "pictures", "region": "r"}}"#, "shared.bucket"),
            (#""shared": {"prefix": "a"}"#, "shared.prefix"),
            (#""shared": {"journalInterval": "61s"}"#, "shared.journalInterval"),
        ])
    func nodes(settings: String, problem: String) async throws {
        let outcome = try await check("{\(settings)}")

        #expect(outcome.code == 78)
        #expect(outcome.errors.contains(problem), "\(outcome.errors)")
    }

    @Test("A cluster's key that is too short is refused, and never shown")
    func clusterKey() async throws {
        try folder.write(Array("short-secret-of-24-bytes".utf8), to: "key")

        let outcome = try await check(
            #"{"cluster": {"peers": ["10.0.0.1:80"], "key": "\#(folder.path)/key"}}"#)

        #expect(outcome.code == 78)
        #expect(outcome.errors.contains("cluster.key: ") && outcome.errors.contains("expected at least 32"))
        #expect(!outcome.errors.contains("short-secret"))
    }
}
