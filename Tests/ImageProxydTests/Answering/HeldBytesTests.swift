// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import ImageProxyd

@Suite("Bytes of uploads")
struct HeldBytesTests {
    private let clients = (1...3).map { ClientID(v4: $0) }

    @Test("One client leaves others as much as it has, and all together stay within a bound")
    func bounds() {
        var held = HeldBytes()

        #expect(held.add(HeldBytes.maxOfClient, of: clients[0]))
        #expect(!held.add(1, of: clients[0]))
        #expect(held.add(HeldBytes.maxOfClient - 1, of: clients[1]))
        #expect(held.add(1, of: nil))
        #expect(!held.add(1, of: clients[2]) && !held.add(1, of: nil))
        #expect(held.count == HeldBytes.max)

        held.remove(10, of: clients[0])
        #expect(held.add(10, of: clients[2]))
        held.remove(HeldBytes.maxOfClient - 10, of: clients[0])
        #expect(held.add(HeldBytes.maxOfClient - 10, of: clients[0]))
    }

    @Test("A client that uploads in pieces is counted by their sum")
    func pieces() {
        var held = HeldBytes()

        for _ in 0..<4 { #expect(held.add(HeldBytes.maxOfClient / 4, of: clients[0])) }
        #expect(!held.add(1, of: clients[0]))
        for _ in 0..<4 { held.remove(HeldBytes.maxOfClient / 4, of: clients[0]) }
        #expect(held.count == 0 && held.add(HeldBytes.maxOfClient, of: clients[0]))
    }
}
