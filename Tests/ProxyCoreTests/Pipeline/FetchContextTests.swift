// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Freshness
@testable import Pipeline
@testable import Primitives

@Suite("The fields of a client that the origin gets")
struct FetchContextTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test("contain its traceparent unchanged (W3C Trace Context)")
    func trace() {
        let context = FetchContext(traceparent: Self.parent, via: "1.1 a")

        #expect(context.fields().map(\.name) == ["traceparent", "Via"])
        #expect(context.fields().map(\.value) == [Self.parent, "1.1 a"])
    }

    @Test("are empty for work that other clients wait for")
    func background() {
        let client = ClientID(v4: 1)
        let context = FetchContext(traceparent: Self.parent, cdnLoop: "a", client: client)

        #expect(context.ofBackgroundWork.fields().isEmpty && context.ofBackgroundWork.history == nil)
        #expect(context.ofBackgroundWork.client == client)
    }
}
