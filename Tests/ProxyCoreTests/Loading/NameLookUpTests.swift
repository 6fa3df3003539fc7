// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

@Suite("Concurrent name look-ups")
struct NameLookUpTests {
    @Test(
        "are at most as many as the descriptors of the resolver allow",
        arguments: [(64, 1), (96, 1), (128, 1), (400, 8), (1_024, 28), (4_096, 124), (131_072, 124)])
    func most(descriptors: UInt64, most: Int) {
        #expect(NameLookUps.most(of: descriptors) == most)
    }

    @Test("are counted when they begin and end")
    func counting() {
        let lookUps = NameLookUps()
        var begun: [NameLookUps.Ticket] = []
        while begun.count < 1_000, let ticket = lookUps.begin(for: [nil]) { begun.append(ticket) }

        lookUps.end(begun[0])

        #expect(begun.count < 1_000)
        #expect(lookUps.begin(for: [nil]) != nil)
        #expect(lookUps.begin(for: [nil]) == nil)
    }

    @Test("of one client leave as many to the others")
    func shares() {
        let lookUps = NameLookUps()
        let (one, other) = (ClientID(v4: 1), ClientID(v4: 2))
        var ofOne: [NameLookUps.Ticket] = []
        while ofOne.count < 1_000, let ticket = lookUps.begin(for: [one]) { ofOne.append(ticket) }
        var ofOther = 0
        while ofOther < 1_000, lookUps.begin(for: [other]) != nil { ofOther += 1 }

        #expect(ofOne.count == ofOther)
        lookUps.end(ofOne[0])
        #expect(lookUps.begin(for: [one]) != nil)
    }

    @Test("of a fetch that several clients wait for need the share of one of them")
    func sharedFetch() {
        let lookUps = NameLookUps()
        let (one, other) = (ClientID(v4: 1), ClientID(v4: 2))
        while lookUps.begin(for: [one]) != nil {}

        #expect(lookUps.begin(for: [one, other]) != nil)
        #expect(lookUps.begin(for: [one]) == nil)
    }

    @Test("A look-up that its caller leaves holds the fetch until it ends, and connects to nothing then")
    func abandoned() async throws {
        let settings = try LoaderSettings(
            configuration: FetchConfiguration(),
            addresses: AddressPolicy(configuration: AddressConfiguration()), clocks: LoaderClocks())
        let rules = Transfer.Rules(settings, lookUps: NameLookUps())
        let request = OriginRequest(url: try SourceURL(parsing: "http://slow.example/a.png"))

        let result = await withCheckedContinuation { continuation in
            let transfer = Transfer(
                job: LoadJob(id: 1, request: request, receiver: CollectingReceiver()), rules: rules,
                connections: KnownConnections(), activity: TransferActivity(), continuation: continuation)
            #expect(transfer.mayLookUp())
            transfer.abandon()
            #expect(transfer.isLookingUp)

            #expect(!transfer.mayConnect(to: IPAddress("192.0.2.1")))
            #expect(!transfer.isLookingUp)
            transfer.finish(.failure(.queueFull))
        }

        #expect(throws: LoadError.cancelled) { try result.get() }
    }
}
