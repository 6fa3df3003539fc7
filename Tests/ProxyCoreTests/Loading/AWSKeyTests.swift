// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

/// A service on loopback that gives out keys, and a provider whose clock the test sets.
private final class KeyFixture: Sendable {
    let service: FakeOrigin
    let folder: TemporaryDirectory
    let counters = LoaderCounters()
    private let time = Mutex<Int64>(KeyFixture.start)

    /// 2026-01-31T12:00:00Z.
    static let start: Int64 = 1_769_860_800

    init() throws {
        service = try FakeOrigin()
        folder = try TemporaryDirectory()
        try write("token-1", to: "token")
    }

    func write(_ text: String, to name: String) throws { try folder.write(Array(text.utf8), to: name) }

    func pass(_ seconds: Int64) { time.withLock { $0 += seconds } }

    func url(_ path: String) throws -> SourceURL { try SourceURL(parsing: service.url(path)) }

    func place(_ name: String) -> SecretPlace { .file(folder.path + "/" + name) }

    func provider(_ source: AWSKeySource) -> AWSKeyProvider {
        // A machine that is busy with other tests may need longer than a service may.
        AWSKeyProviders(proxy: "", timeout: 600_000, counters: counters) { [self] in time.withLock { $0 } }
            .provider(of: source)
    }

    func webIdentity() throws -> AWSKeyProvider {
        provider(
            .webIdentity(
                .init(
                    roleARN: "arn:aws:iam::1:role/a b", token: place("token"), sessionName: "me",
                    endpoint: try url("/"))))
    }

    /// An answer of STS; keys that are valid until so many minutes after the start.
    static func xml(_ name: String, minutes: Int) -> OriginAnswer {
        let text = """
            <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
            <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>\(name)</AccessKeyId>
            <SecretAccessKey>s3cret/\(name)</SecretAccessKey><SessionToken>session/\(name)</SessionToken>
            <Expiration>\(expiration(minutes))</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
            </AssumeRoleWithWebIdentityResponse>
            """
        return .body(Array(text.utf8), type: "text/xml")
    }

    /// An answer of a metadata service.
    static func json(_ name: String, minutes: Int) -> OriginAnswer {
        let text = """
            {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "\(name)", "SecretAccessKey": "s3cret/\(name)", \
            "Token": "session/\(name)", "Expiration": "\(expiration(minutes))"}
            """
        return .body(Array(text.utf8), type: "application/json")
    }

    private static func expiration(_ minutes: Int) -> String {
        let minute = minutes % 60
        return "2026-01-31T\(12 + minutes / 60):\(minute < 10 ? "0" : "")\(minute):00Z"
    }
}

@Suite("Keys of AWS")
struct AWSKeyTests {
    @Test("are read from their files again when these change, every few seconds at most")
    func files() async throws {
        let fixture = try KeyFixture()
        try fixture.write("id-1\n", to: "id")
        try fixture.write("key-1", to: "key")
        let provider = fixture.provider(
            .keys(name: fixture.place("id"), key: fixture.place("key"), sessionToken: fixture.place("token")))

        let first = try await provider.current()
        try fixture.write("id-2\n", to: "id")
        try fixture.write("key-2", to: "key")
        try fixture.write("token-2", to: "token")
        fixture.pass(4)
        let same = try await provider.current()
        fixture.pass(1)
        let second = try await provider.current()
        try fixture.folder.remove("key")
        fixture.pass(5)
        let kept = try await provider.current()

        #expect([first.name.text, first.key.text, first.sessionToken?.text] == ["id-1", "key-1", "token-1"])
        #expect(same == first)
        #expect(
            [second.name.text, second.key.text, second.sessionToken?.text] == ["id-2", "key-2", "token-2"])
        #expect(kept == second)
        #expect(fixture.counters.snapshot.keyRefreshes == 2)
        #expect(fixture.counters.snapshot.failedKeyRefreshes == 1)
    }

    @Test("are those of a role that the platform's token proves, with the token that is there now")
    func webIdentity() async throws {
        let fixture = try KeyFixture()
        fixture.service.route(
            "/", inTurn: [KeyFixture.xml("one", minutes: 60), KeyFixture.xml("two", minutes: 120)])
        let provider = try fixture.webIdentity()

        let first = try await provider.current()
        fixture.pass(54 * 60)
        let same = try await provider.current()
        try fixture.write("token-2", to: "token")
        fixture.pass(5 * 60 + 30)
        let second = try await provider.current()

        #expect([first.name.text, first.key.text] == ["one", "s3cret/one"])
        #expect(first.sessionToken?.text == "session/one" && first.expiry == KeyFixture.start + 3_600)
        #expect(same == first && second.name.text == "two")
        let requests = fixture.service.log.requests
        #expect(requests.map(\.method) == ["POST", "POST"])
        #expect(requests[0]["content-type"] == "application/x-www-form-urlencoded")
        #expect(
            requests.map { String(decoding: $0.content, as: UTF8.self) }
                == ["token-1", "token-2"].map {
                    "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b"
                        + "&RoleSessionName=me&WebIdentityToken=\($0)"
                })
    }

    @Test("are refreshed before they expire, while requests use the present ones")
    func early() async throws {
        let fixture = try KeyFixture()
        let gate = OriginGate()
        fixture.service.route(
            "/",
            inTurn: [KeyFixture.xml("one", minutes: 60), KeyFixture.xml("two", minutes: 120).held(by: gate)])
        let provider = try fixture.webIdentity()

        _ = try await provider.current()
        fixture.pass(55 * 60)
        let during = try await provider.current()
        await fixture.service.waitForRequests("/", count: 2)
        let still = try await provider.current()
        gate.open()
        while try await provider.current().name.text == "one" { await Task.yield() }

        #expect(during.name.text == "one" && still.name.text == "one")
        #expect(fixture.service.count("/") == 2)
    }

    @Test("are requested once, however many requests wait for them")
    func together() async throws {
        let fixture = try KeyFixture()
        let gate = OriginGate()
        fixture.service.route("/", KeyFixture.xml("one", minutes: 60).held(by: gate))
        let provider = try fixture.webIdentity()

        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await provider.current().name.text } }
            await fixture.service.waitForRequests("/")
            gate.open()
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }

        #expect(names == [String](repeating: "one", count: 50))
        #expect(fixture.service.count("/") == 1)
    }

    @Test("are used until they expire when no others are to be had; then requests fail, and say why")
    func outage() async throws {
        let fixture = try KeyFixture()
        let refusal = """
            <ErrorResponse><Error><Type>Sender</Type><Code>ExpiredTokenException</Code>
            <Message>token-1 is too old</Message></Error></ErrorResponse>
            """
        fixture.service.route(
            "/",
            inTurn: [
                KeyFixture.xml("one", minutes: 60),
                .body(Array(refusal.utf8), type: "text/xml", status: 400),
            ])
        let provider = try fixture.webIdentity()

        _ = try await provider.current()
        fixture.pass(59 * 60 + 30)
        #expect(try await provider.current().name.text == "one")
        #expect(fixture.service.count("/") == 2)
        fixture.pass(30)
        var asked: [Int] = []
        for _ in 0..<200 {
            let error = await #expect(throws: LoadError.self) { _ = try await provider.current() }
            #expect(
                error
                    == .noKeys(
                        "webIdentity: 127.0.0.1:\(fixture.service.port): status 400 ExpiredTokenException"))
            asked.append(fixture.service.count("/"))
            fixture.pass(1)
        }

        // After pauses of 1, 2, 4, 8, 16, 32 and 60 seconds.
        #expect([0, 2, 6, 14, 30, 62, 122, 182].map { asked[$0] } == [3, 4, 5, 6, 7, 8, 9, 10])
        #expect(asked.last == 10)
        fixture.service.route("/", KeyFixture.xml("two", minutes: 120))
        fixture.pass(60)
        #expect(try await provider.current().name.text == "two")
    }

    @Test(
        "are requested early, once a minute at most, when the store refuses a request that they have signed")
    func refusal() async throws {
        let fixture = try KeyFixture()
        fixture.service.route(
            "/",
            inTurn: [
                KeyFixture.xml("one", minutes: 60), KeyFixture.xml("two", minutes: 60),
                KeyFixture.xml("three", minutes: 60),
            ])
        let provider = try fixture.webIdentity()

        let first = try await provider.current()
        provider.reportRefusal(of: first)
        let second = try await provider.current()
        // Those of a request that began before.
        provider.reportRefusal(of: first)
        provider.reportRefusal(of: second)
        let same = try await provider.current()
        fixture.pass(60)
        provider.reportRefusal(of: second)

        #expect([first, second, same].map(\.name.text) == ["one", "two", "two"])
        #expect(try await provider.current().name.text == "three")
    }

    @Test("are those of a virtual machine's role, by a session of the metadata service")
    func instance() async throws {
        let fixture = try KeyFixture()
        let roles = "/latest/meta-data/iam/security-credentials/"
        fixture.service.route("/latest/api/token", .body(Array("session==".utf8), type: "text/plain"))
        fixture.service.route(roles, .body(Array("web-role\nother".utf8), type: "text/plain"))
        fixture.service.route(roles + "web-role", KeyFixture.json("one", minutes: 60))
        let provider = fixture.provider(.instanceMetadata(try fixture.url("/")))

        let keys = try await provider.current()

        #expect(
            [keys.name.text, keys.key.text, keys.sessionToken?.text] == ["one", "s3cret/one", "session/one"])
        let requests = fixture.service.log.requests
        #expect(requests.map(\.method) == ["PUT", "GET", "GET"])
        #expect(requests.map(\.path) == ["/latest/api/token", roles, roles + "web-role"])
        #expect(requests[0]["x-aws-ec2-metadata-token-ttl-seconds"] == "60")
        #expect(requests.dropFirst().map { $0["x-aws-ec2-metadata-token"] } == ["session==", "session=="])
    }

    @Test("are those of a container, with the authorization that is there now")
    func container() async throws {
        let fixture = try KeyFixture()
        fixture.service.route(
            "/v1/credentials",
            inTurn: [KeyFixture.json("one", minutes: 10), KeyFixture.json("two", minutes: 20)])
        let provider = fixture.provider(
            .container(try fixture.url("/v1/credentials"), authorization: fixture.place("token")))

        let first = try await provider.current()
        try fixture.write("token-2\n", to: "token")
        fixture.pass(10 * 60)
        let second = try await provider.current()

        #expect([first.name.text, second.name.text] == ["one", "two"])
        #expect(fixture.service.log.requests.map { $0["authorization"] } == ["token-1", "token-2"])
    }

    @Test(
        "are none where a service gives none, or too much, or leads elsewhere",
        arguments: [
            (OriginAnswer.status(404), "status 404"), (.redirect(to: "/other"), "status 302"),
            (.body(Array("no json".utf8)), "its answer is no JSON"),
            (.body([UInt8](repeating: 0x20, count: 70_000)), "its answer is longer than 65536 bytes"),
            (
                .body(Array(#"{"Code": "AssumeRoleUnauthorizedAccess"}"#.utf8)),
                "its answer has the code Assume"
            ),
            (.body(Array(#"{"AccessKeyId": "a", "SecretAccessKey": "s3cret"}"#.utf8)), "its answer lacks"),
            (
                .body(
                    Array(
                        #"{"AccessKeyId": "a", "SecretAccessKey": "s3\ncret", "Token": "t", "Expiration": "x"}"#
                            .utf8)), "its answer has keys with control characters"
            ),
            (
                .body(
                    Array(
                        #"{"AccessKeyId": "a", "SecretAccessKey": "s3cret", "Token": "t", "Expiration": "soon"}"#
                            .utf8)), "its answer has an expiration that is no time"
            ),
            (KeyFixture.json("old", minutes: 0), "its keys have expired already"),
            (OriginAnswer([.close]), "server returned nothing"),
        ])
    func refusals(answer: OriginAnswer, reason: String) async throws {
        let fixture = try KeyFixture()
        fixture.service.route("/", answer)
        fixture.service.route("/other", KeyFixture.json("one", minutes: 60))
        let provider = fixture.provider(.container(try fixture.url("/"), authorization: nil))

        let error = await #expect(throws: LoadError.self) { _ = try await provider.current() }

        guard case .noKeys(let text) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(text.hasPrefix("container: ") && text.contains(reason) && !text.contains("cret"), "\(text)")
        #expect(fixture.service.count("/other") == 0)
    }

    @Test("are shared by rules with equal sources, and printed nowhere")
    func sharing() async throws {
        let fixture = try KeyFixture()
        fixture.service.route("/", KeyFixture.json("one", minutes: 60))
        let source = AWSKeySource.container(try fixture.url("/"), authorization: .text(Secret("open sesame")))
        let providers = AWSKeyProviders(proxy: "", counters: fixture.counters) { KeyFixture.start }
        let keys = try await providers.provider(of: source).current()

        var dumped = "\(keys) \(source)"
        dump(keys, to: &dumped)
        dump(source, to: &dumped)

        #expect(providers.provider(of: source) === providers.provider(of: source))
        #expect(!dumped.contains("s3cret") && !dumped.contains("session/") && !dumped.contains("sesame"))
    }
}
