// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd
@testable import Imaging
@testable import Request

@Suite("Renders for unsigned clients")
struct UnsignedWorkTests {
    private static let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
    private static let expensive = "transform=resize:7000x7000:fill:enlarge=1&format=webp&lossless=1"
    private static let small = "transform=resize:30x20&format=png"

    @Test(
        "Unsigned renders that time out do not block the source for others, however many results one client makes fail"
    )
    func timeouts() async throws {
        let proxy = try await Proxy(
            settings: #""limits": {"unsignedWork": 1000000}"#,
            environment: ["IMAGEPROXYD_TRANSFORM_TIMEOUT=1s"])
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))

        for side in 0..<4 {
            let plan = Self.expensive.replacing("7000x7000", with: "\(7_000 - side)x7000")
            var answer = try await proxy.get(proxy.target("/a.jpg", plan))
            // A worker that a busy machine has starved says nothing of the picture.
            while answer.code == "queue_timeout" {
                answer = try await proxy.get(proxy.target("/a.jpg", plan))
            }
            #expect(answer.status == 422 && answer.code == "transform_timeout")
        }

        #expect(try await proxy.get(proxy.target("/a.jpg", Self.small)).pngSize == [30, 20])
    }

    @Test(
        "An unsigned render beyond the work limit is refused before it starts, and the answer says what the limit is"
    )
    func refused() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))

        let refused = try await proxy.get(proxy.target("/a.jpg", Self.expensive))
        let other = try await proxy.get(proxy.target("/a.jpg", Self.small))

        #expect(refused.status == 422 && refused.code == "too_much_work")
        #expect(refused["Cache-Control"] == "no-store")
        let limit = RenderLimits().unsignedWork
        #expect(refused.text.contains("limits.unsignedWork is \(limit); a signed URL may go further"))
        #expect(other.status == 200)
        #expect(try await proxy.metric("imageproxyd_worker_restarts_total{reason=\"timeout\"}") == 0)
    }

    @Test("A signed render, and one by a preset, may take more work")
    func further() async throws {
        let folder = try TemporaryDirectory()
        let key = Array("imageproxyd-test-key-1".utf8)
        try folder.write(key, to: "key")
        let large = "resize:3000x3000:fill:enlarge=1"
        let proxy = try await Proxy(
            settings: """
                "limits": {"unsignedWork": 5}, \
                "presets": {"large": {"transform": "\(large)", "format": "jpeg"}}
                """,
            security: "\"keys\": [\"\(folder.path)/key\"], \"requireSignature\": false", in: folder)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let target = proxy.target("/a.jpg", "transform=\(large)&format=jpeg&quality=70")

        let unsigned = try await proxy.get(target)
        let signed = try await proxy.get(SignaturePolicy.sign(target, with: key))
        let preset = try await proxy.get(proxy.target("/a.jpg", "preset=large"))
        let changed = try await proxy.get(proxy.target("/a.jpg", "preset=large&quality=71"))

        #expect(unsigned.status == 422 && unsigned.code == "too_much_work")
        #expect(signed.status == 200, "the refusal is not remembered")
        #expect(preset.status == 200)
        #expect(changed.status == 422 && changed.code == "too_much_work")
    }

    @Test("Many unsigned renders of one client at once do not prevent those of others")
    func fairness() async throws {
        let proxy = try await Proxy(
            settings: """
                "http": {"trustedProxies": ["10.0.0.0/8"]}, "limits": {"unsignedWork": 60}
                """,
            environment: ["IMAGEPROXYD_TRANSFORM_QUEUE=8"])
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        #expect(try await proxy.get(proxy.target("/a.jpg")).status == 200)

        let statuses = try await withThrowingTaskGroup(of: (isOther: Bool, status: Int).self) { group in
            for number in 0..<16 {
                let plan = "transform=resize:\(3_000 + number)x3000:fill:enlarge=1&format=jpeg"
                let target = proxy.target("/a.jpg", plan)
                group.addTask {
                    (false, try await proxy.get(target, "X-Forwarded-For: 192.0.2.1").status)
                }
            }
            while try await proxy.metric("imageproxyd_transform_queue") < 4 {}
            for number in 0..<6 {
                let target = proxy.target("/a.jpg", "transform=resize:\(30 + number)x20&format=png")
                group.addTask {
                    (true, try await proxy.get(target, "X-Forwarded-For: 198.51.100.\(number)").status)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(statuses.filter(\.isOther).map(\.status) == [200, 200, 200, 200, 200, 200])
        #expect(statuses.filter { !$0.isOther }.allSatisfy { [200, 503].contains($0.status) })
    }

    @Test("Unsigned priority=high is refused, unless the configuration allows it")
    func priority() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let target = proxy.target("/a.jpg", "priority=high")

        let refused = try await proxy.get(target)
        let low = try await proxy.get(proxy.target("/a.jpg", "priority=low"))
        try await proxy.reload(security: #""allowedOptions": ["priority"]"#)

        #expect(refused.status == 403 && refused.code == "option_forbidden")
        #expect(low.status == 200)
        #expect(try await proxy.get(target).status == 200)
    }

    @Test(
        "The field Priority does not move an unsigned render ahead: its high urgency counts as normal (RFC 9218)"
    )
    func priorityField() async throws {
        let proxy = try await Proxy(settings: #""fetch": {"maxConcurrent": 1}"#)
        let gate = OriginGate()
        proxy.origin.route("/held.jpg", OriginAnswer([.wait(gate)] + OriginAnswer.body(Fixtures.photo).steps))
        for name in ["first", "urgent"] { proxy.origin.route("/\(name).jpg", .body(Fixtures.photo)) }

        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            let targets = ["held", "first", "urgent"].map { proxy.target("/\($0).jpg") }
            group.addTask { try await proxy.get(targets[0]).status }
            await proxy.origin.waitForRequests("/held.jpg")
            group.addTask { try await proxy.get(targets[1]).status }
            while try await proxy.metric("imageproxyd_fetch_queue") < 1 {}
            group.addTask { try await proxy.get(targets[2], "Priority: u=0").status }
            while try await proxy.metric("imageproxyd_fetch_queue") < 2 {}
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(statuses == [200, 200, 200])
        let order = proxy.origin.log.requests.map(\.path).filter { $0 != "/held.jpg" }
        #expect(order == ["/first.jpg", "/urgent.jpg"])
    }
}
