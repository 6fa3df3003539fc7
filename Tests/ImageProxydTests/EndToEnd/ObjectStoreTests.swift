// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// One store for all tests of the suite; each has buckets of its own.
private let shared = Result { try ObjectStore() }

@Suite("An object store as the origin")
struct ObjectStoreTests {
    private let store: ObjectStore
    private let folder: TemporaryDirectory

    init() throws {
        store = try shared.get()
        folder = try TemporaryDirectory()
        try folder.write(Array("testing\n".utf8), to: "secret")
    }

    /// A rule for a bucket of the store.
    private func rule(
        _ bucket: String, secret: String = "secret", auth: String? = nil, _ members: String = ""
    ) -> String {
        let keys = #""accessKey": "test:tester", "secretKey": {"file": "\#(folder.path)/\#(secret)"}"#
        return #"""
            {"bucket": {"url": "\#(bucket)", "region": "us-east-1", "endpoint": "\#(store.url)"},
             "auth": {"type": "awsSigV4", \#(auth ?? keys)}\#(members.isEmpty ? "" : ", ")\#(members)}
            """#
    }

    private func proxy(
        _ rules: String..., security: String = "", environment: [String] = []
    ) async throws -> Proxy {
        try await Proxy(
            settings: "\"origins\": [\(rules.joined(separator: ", "))]", security: security,
            environment: environment)
    }

    private func target(_ url: String) -> String {
        "/img?url="
            + url.utf8.map { byte in
                let character = Character(Unicode.Scalar(byte))
                let isPlain = character.isASCII && (character.isLetter || character.isNumber)
                return isPlain
                    ? String(character) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }.joined()
    }

    @Test(
        "A picture in a private bucket is fetched by a signed request, by s3:// and by its HTTP URL as one source"
    )
    func signed() async throws {
        try await store.put(Fixtures.photo, as: ["signed/a.jpg"])
        let proxy = try await proxy(rule("s3://signed/"), security: #""sources": ["s3://signed/*"]"#)

        let answer = try await proxy.get(target("s3://signed/a.jpg"))
        let again = try await proxy.get(target(store.url + "signed/a.jpg"))
        let other = try await proxy.get(target(store.url + "other/a.jpg"))

        let isWhole = answer.body == Fixtures.photo
        #expect(answer.status == 200 && isWhole, "\(answer.fields) \(answer.body.count) bytes")
        #expect(again["Cache-Status"]?.contains("hit") == true)
        #expect(other.code == "source_forbidden")
    }

    @Test("Without a key, or with a wrong one, the store's refusal is 502, and no secret is said")
    func wrongKey() async throws {
        try await store.put(Fixtures.photo, as: ["wrong/a.jpg", "wrong/b.jpg"])
        try folder.write(Array("not the key".utf8), to: "other")
        let proxy = try await proxy(rule("s3://wrong/", secret: "other"))

        let refused = try await proxy.get(target("s3://wrong/a.jpg"))
        try folder.write(Array("testing".utf8), to: "other")
        let accepted = try await proxy.get(target("s3://wrong/b.jpg"))
        let unsigned = try await self.proxy().get(target(store.url + "wrong/a.jpg"))
        proxy.daemon.send(signal: 15)
        _ = try await proxy.daemon.exitCode()

        #expect(refused.status == 502 && refused.code == "upstream_status")
        #expect(refused.text.contains("403"))
        // The store's refusal has made the daemon read the file again.
        #expect(accepted.status == 200, "\(accepted.text)")
        #expect(unsigned.code == "upstream_status")
        #expect(!proxy.daemon.log.contains("not the key") && !refused.text.contains("tester"))
    }

    @Test("A key is what the URL's path says")
    func keys() async throws {
        let pairs = [
            ("a b.jpg", "a%20b.jpg"), ("a+b.jpg", "a+b.jpg"), ("a+c.jpg", "a%2Bc.jpg"),
            ("ä/😀.jpg", "%C3%A4/%f0%9f%98%80.jpg"), ("ä/ö.jpg", "ä/ö.jpg"), ("f/g.jpg", "f%2Fg.jpg"),
            ("100%.jpg", "100%25.jpg"), ("(x)!'*,;=@:$&.jpg", "(x)!'*,;=@:$&.jpg"), ("a?b.jpg", "a%3Fb.jpg"),
            ("a#b.jpg", "a%23b.jpg"), ("~._-.jpg", "%7e._-.jpg"), ("a//b.jpg", "a//b.jpg"),
        ]
        try await store.put(Fixtures.photo, as: pairs.map { "keys/\($0.0)" })
        let proxy = try await proxy(rule("s3://keys/"))

        for (_, path) in pairs {
            let answer = try await proxy.get(target("s3://keys/\(path)"))
            #expect(answer.status == 200, "\(path): \(answer.text)")
            #expect(try await proxy.get(target("s3://keys/none/\(path)")).status == 404, "\(path)")
        }
    }

    @Test("A stored picture is confirmed by its entity tag, and replaced when the object is")
    func revalidation() async throws {
        try await store.put(Fixtures.photo(number: 1), as: ["fresh/a.jpg"])
        let proxy = try await Proxy(
            settings: """
                "freshness": {"staleWhileRevalidate": "0s"},
                "origins": [\(rule("s3://fresh/", #""responseTTL": {"override": "0s"}"#))]
                """)
        let target = target("s3://fresh/a.jpg")

        let first = try await proxy.get(target)
        let second = try await proxy.get(target)
        try await store.put(Fixtures.photo(number: 2), as: ["fresh/a.jpg"])
        let third = try await proxy.get(target)

        #expect([first, second, third].map(\.status) == [200, 200, 200])
        #expect(second["Cache-Status"]?.contains("fwd-status=304") == true, "\(second["Cache-Status"] ?? "")")
        #expect(third["Cache-Status"]?.contains("fwd-status=200") == true, "\(third["Cache-Status"] ?? "")")
        let isReplaced = first.body == second.body && third.body == Fixtures.photo(number: 2)
        #expect(isReplaced)
    }

    @Test("gs:// names the buckets of another store; each store has its own")
    func google() async throws {
        try await store.put(Fixtures.photo, as: ["google/a.jpg"])
        let proxy = try await proxy(rule("gs://*/"))

        #expect(try await proxy.get(target("gs://google/a.jpg")).status == 200)
        let other = try await proxy.get(target("s3://google/a.jpg"))
        #expect(other.status == 400 && other.code == "invalid_url")
        #expect(
            other.text.contains("no rule of the setting origins has the bucket 's3://google/'"),
            "\(other.text)")
    }

    @Test(
        "A URL never leaves its bucket, nor lists it",
        arguments: [
            "s3://confined/../secret/a.jpg", "s3://confined/%2e%2e/secret/a.jpg",
            "s3://confined/..%2fsecret%2fa.jpg", "s3://confined@127.0.0.1/a.jpg", "s3://confined/",
            "s3://confined/a.jpg?acl", "s3://secret/a.jpg",
        ])
    func confined(url: String) async throws {
        let proxy = try await proxy(rule("s3://confined/"))

        #expect(try await proxy.get(target(url)).status == 400)
    }

    @Test("The HTTP spellings of a path do not leave the bucket with its keys either")
    func confinedHTTP() async throws {
        try await store.put(Fixtures.photo, as: ["inner/a.jpg", "outer/a.jpg"])
        let proxy = try await proxy(rule("s3://inner/"))

        for path in ["inner/..%2fouter/a.jpg", "x/..%2finner/a.jpg", "/inner/a.jpg"] {
            #expect(try await proxy.get(target(store.url + path)).code == "source_forbidden", "\(path)")
        }
        for path in ["inner/../outer/a.jpg", "inner%2f..%2fouter/a.jpg", "outer/a.jpg"] {
            #expect(try await proxy.get(target(store.url + path)).code == "upstream_status", "\(path)")
        }
    }

    @Test("A redirect out of the bucket gets neither signature nor token")
    func redirect() async throws {
        let (origin, other) = (try FakeOrigin(), try FakeOrigin())
        try folder.write(Array("the session".utf8), to: "token")
        origin.route("/b/a.jpg", .redirect(to: other.url("/a.jpg")))
        origin.route("/b/b.jpg", .redirect(to: "/b/c.jpg"))
        origin.route("/b/c.jpg", .redirect(to: "/other/a.jpg"))
        origin.route("/other/a.jpg", .body(Fixtures.photo))
        other.route("/a.jpg", .body(Fixtures.photo))
        let proxy = try await Proxy(
            settings: #"""
                "origins": [{"bucket": {"url": "s3://b/", "region": "r", "endpoint": "\#(origin.url("/"))"},
                 "auth": {"type": "awsSigV4", "accessKey": "id", "secretKey": {"file": "\#(folder.path)/secret"},
                          "sessionToken": {"file": "\#(folder.path)/token"}}}]
                """#, origin: origin)

        #expect(try await proxy.get(target("s3://b/a.jpg")).status == 200)
        #expect(try await proxy.get(target("s3://b/b.jpg")).status == 200)

        #expect(origin.log.requests.map(\.path) == ["/b/a.jpg", "/b/b.jpg", "/b/c.jpg", "/other/a.jpg"])
        #expect(origin.log.requests.map { $0["authorization"] != nil } == [true, true, true, false])
        let first = try #require(origin.log.requests.first), second = try #require(other.log.requests.first)
        #expect(first["x-amz-security-token"] == "the session")
        #expect(first["authorization"]?.contains("x-amz-security-token") == true)
        let names = Set(second.fields.map(\.name))
        #expect(
            names.isDisjoint(with: [
                "authorization", "x-amz-security-token", "x-amz-date", "x-amz-content-sha256",
            ]))
    }

    // MARK: - Keys of a platform

    private static let keys = #"""
        {"Code": "Success", "AccessKeyId": "test:tester", "SecretAccessKey": "testing", "Token": "session", \#
        "Expiration": "2099-01-01T00:00:00Z"}
        """#

    @Test("The keys of a virtual machine's role sign, and its metadata stay out of every client's reach")
    func instance() async throws {
        try await store.put(Fixtures.photo, as: ["instance/a.jpg"])
        let service = try FakeOrigin()
        let roles = "/latest/meta-data/iam/security-credentials/"
        service.route("/latest/api/token", .body(Array("t".utf8)))
        service.route(roles, .body(Array("role".utf8)))
        service.route(roles + "role", .body(Array(Self.keys.utf8)))
        let proxy = try await proxy(
            rule("s3://instance/", auth: #""instanceMetadata": {}"#),
            #"{"match": "http://169.254.169.254/*", "auth": {"type": "awsSigV4", "instanceMetadata": {}}}"#,
            environment: ["AWS_EC2_METADATA_SERVICE_ENDPOINT=\(service.url(""))", "AWS_REGION=r"])

        let answer = try await proxy.get(target("s3://instance/a.jpg"))
        let hidden = try await proxy.get(target("http://169.254.169.254" + roles))
        let metrics = try await proxy.metric(#"imageproxyd_fetch_keys_total{outcome="ok"}"#)

        #expect(answer.status == 200, "\(answer.text)")
        #expect(hidden.status == 403 && hidden.code == "address_forbidden")
        #expect(metrics == 1)
    }

    @Test("The keys of a role sign that STS gives out for the token of the platform")
    func webIdentity() async throws {
        try await store.put(Fixtures.photo, as: ["identity/a.jpg"])
        try folder.write(Array("token".utf8), to: "token")
        let service = try FakeOrigin()
        let xml = """
            <Credentials><AccessKeyId>test:tester</AccessKeyId><SecretAccessKey>testing</SecretAccessKey>
            <SessionToken>session</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>
            """
        service.route("/", .body(Array(xml.utf8), type: "text/xml"))
        let proxy = try await Proxy(
            settings: #""origins": [{"bucket": {"url": "s3://*/"}, "auth": {"type": "awsSigV4"}}]"#,
            environment: [
                "AWS_WEB_IDENTITY_TOKEN_FILE=\(folder.path)/token", "AWS_ROLE_ARN=arn:aws:iam::1:role/a",
                "AWS_REGION=us-east-1", "AWS_ENDPOINT_URL_S3=\(store.url)",
                "AWS_ENDPOINT_URL_STS=\(service.url(""))",
            ])

        let answer = try await proxy.get(target("s3://identity/a.jpg"))

        #expect(answer.status == 200, "\(answer.text)")
        #expect(service.log.requests.map(\.method) == ["POST"])
    }

    @Test("Without keys a request is 502, and the log says which service gave none, and why")
    func noKeys() async throws {
        let service = try FakeOrigin()
        let proxy = try await proxy(
            rule("s3://none/", auth: #""container": {"url": "\#(service.url("/keys"))"}"#))

        let answer = try await proxy.get(target("s3://none/a.jpg"))
        proxy.daemon.send(signal: 15)
        _ = try await proxy.daemon.exitCode()

        #expect(answer.status == 502 && answer.code == "upstream_credentials")
        #expect(!answer.text.contains("container"))
        #expect(
            proxy.daemon.log.contains(
                #"problem=upstream_credentials reason="container: 127.0.0.1:\#(service.port): status 404""#),
            "\(proxy.daemon.log)")
    }

    @Test("An operator purges a source by its s3:// URL")
    func purge() async throws {
        try await store.put(Fixtures.photo, as: ["purged/a.jpg"])
        let proxy = try await proxy(rule("s3://purged/"))
        let target = target("s3://purged/a.jpg")

        _ = try await proxy.get(target)
        let purged = try await proxy.administer("PURGE", target)
        let again = try await proxy.get(target)

        #expect(purged.status == 200, "\(purged.text)")
        #expect(again["Cache-Status"]?.contains("fwd=uri-miss") == true)
    }

    @Test("A dialect's URL may name a bucket, as imgproxy's do")
    func dialect() async throws {
        try await store.put(Fixtures.photo, as: ["dialect/a.jpg"])
        let proxy = try await Proxy(
            settings: """
                "origins": [\(rule("s3://dialect/"))],
                "dialects": [{"name": "imgproxy", "prefix": "/", "keys": []}]
                """)

        let answer = try await proxy.get("/unsafe/rs:fit:10:10/plain/s3://dialect/a.jpg@png")

        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.pngSize == [10, 7])
    }
}
