// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

@Suite("A fetch that is signed for AWS")
struct SignedFetchTests {
    @Test("signs for AWS (Signature Version 4), and only for the rule's origin")
    func awsSignature() async throws {
        let fixture = try LoaderFixture()
        let folder = try TemporaryDirectory()
        try folder.write(Array("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n".utf8), to: "key")
        let other = try FakeOrigin()
        other.route("/c", .body([1]))
        fixture.origin.route("/bucket/a%20b.png", .body([1]))
        fixture.origin.route("/away", .redirect(to: other.url("/c")))
        fixture.origin.route("/plain", .body([1]))
        let sign: (inout OriginRuleConfiguration) -> Void = {
            $0.auth = aws(key: folder.path + "/key")
        }

        fixture.origin.route("/bucket/a%2Bb%20%281%29.png", .body([1]))

        try await fixture.load("/bucket/a%20b.png", by: sign)
        try await fixture.load("/away", by: sign)
        try await fixture.load("/bucket/a+b%20(1).png?x=2&versionId", by: sign)
        try await fixture.load("/plain")

        let requests = fixture.origin.log.requests
        #expect(requests.count == 4)
        for request in requests.prefix(3) {
            #expect(
                try AWSVerifier(secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY").accepts(request),
                "\(request)")
            #expect(request["x-amz-content-sha256"] != nil)
        }
        #expect(requests.last?["authorization"] == nil)
        #expect(other.log.requests.first?["authorization"] == nil)
        #expect(other.log.requests.first?["x-amz-date"] == nil)
    }

    @Test("signs the token of a temporary key, too, however long it is")
    func awsSessionToken() async throws {
        let fixture = try LoaderFixture()
        let folder = try TemporaryDirectory()
        let token = String(repeating: "IQoJb3Jp/Z2lu+X2Vj==", count: 150)
        try folder.write(Array("key".utf8), to: "key")
        try folder.write(Array(token.utf8), to: "token")
        fixture.origin.route("/a", .body([1]))

        try await fixture.load("/a") {
            $0.auth = aws(key: folder.path + "/key", sessionToken: folder.path + "/token")
        }

        let request = try #require(fixture.origin.log.requests.first)
        #expect(request["x-amz-security-token"] == token)
        #expect(request["authorization"]?.contains("x-amz-security-token") == true)
        #expect(try AWSVerifier(secret: "key").accepts(request))
    }

    @Test(
        "requests a signed URL in the form that AWS signs",
        arguments: [
            ("/a+b", "/a%2Bb"), ("/a(b)!'*;,=@:$&c", "/a%28b%29%21%27%2A%3B%2C%3D%40%3A%24%26c"),
            ("/%7e%41%c3%a9", "/~A%C3%A9"), ("//a//", "//a//"), ("/a%2fb", "/a/b"), ("/%zz", "/%25zz"),
            ("/?b=2&a", "/?a=&b=2"), ("/?a=1&a=0&a=", "/?a=&a=0&a=1"), ("/?q=a/b=c", "/?q=a%2Fb%3Dc"),
            ("/?q=a+b%20c", "/?q=a%2Bb%20c"), ("/?", "/"),
        ])
    func awsForm(target: String, canonical: String) {
        let origin = "https://bucket.example:8443"

        #expect(AWSCanonicalURL.text(of: origin + target) == origin + canonical)
        #expect(AWSCanonicalURL.text(of: origin + canonical) == origin + canonical)
    }

    @Test("replaces the authentication of all origins by the signature for AWS")
    func awsBesideHeaders() async throws {
        let fixture = try LoaderFixture { $0.headers = ["Authorization": "Bearer everywhere"] }
        fixture.origin.route("/a", .body([1]))
        let folder = try TemporaryDirectory()
        try folder.write(Array("key".utf8), to: "key")

        for service in ["s3", "execute-api"] {
            try await fixture.load("/a") {
                $0.auth = aws(service: service, key: folder.path + "/key")
            }
        }

        let requests = fixture.origin.log.requests
        #expect(try AWSVerifier(secret: "key").accepts(#require(requests.first)))
        #expect(requests.count == 2)
        for request in requests {
            #expect(request["authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") == true)
        }
    }
}

private func aws(
    service: String = "s3", key: String, sessionToken: String? = nil
) -> OriginRuleConfiguration.Auth {
    var credentials = OriginRuleConfiguration.AWSCredentials()
    (credentials.region, credentials.service) = ("eu-central-1", service)
    (credentials.accessKey, credentials.secretKey) = (.literal("AKIDEXAMPLE"), .file(key))
    credentials.sessionToken = sessionToken.map { .file($0) }
    return .awsSigV4(credentials)
}

/// Checks a signature as AWS does, only from the received request.
private struct AWSVerifier {
    let secret: String

    func accepts(_ request: OriginHTTPRequest) throws -> Bool {
        let authorization = try #require(request["authorization"])
        let parts = authorization.split(separator: ", ").map {
            $0.split(separator: "=", maxSplits: 1).map(String.init)
        }
        let scope = parts[0][1].split(separator: "/").map(String.init)
        let names = parts[1][1].split(separator: ";").map(String.init)
        let date = try #require(request["x-amz-date"])
        let headers = names.map { "\($0):\(request[$0]?.trimmingCharacters(in: .whitespaces) ?? "")\n" }
            .joined()
        let target = request.target.split(separator: "?", maxSplits: 1).map(String.init)
        let hash = request["x-amz-content-sha256"] ?? SHA256.hash([]).hexadecimal
        let canonical = [
            request.method, target[0], target.count > 1 ? target[1] : "", headers,
            names.joined(separator: ";"), hash,
        ].joined(separator: "\n")
        let text = [
            "AWS4-HMAC-SHA256", date, scope[1...].joined(separator: "/"),
            SHA256.hash(Array(canonical.utf8)).hexadecimal,
        ].joined(separator: "\n")
        var key = Array("AWS4\(secret)".utf8)
        for word in scope[1...] { key = mac(key, word) }
        return names.contains("x-amz-content-sha256")
            && authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
            && scope[2...].elementsEqual(["eu-central-1", "s3", "aws4_request"])
            && names.contains("host") && parts[2][1] == mac(key, text).hexadecimal
    }

    private func mac(_ key: [UInt8], _ text: String) -> [UInt8] {
        HMACKey(.sha256, key).code(for: Array(text.utf8))
    }
}
