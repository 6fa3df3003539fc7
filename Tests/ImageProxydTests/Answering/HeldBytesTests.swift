// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Primitives
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Bytes of uploads")
struct HeldBytesTests {
    private let clients = (1...3).map { ClientID(v4: $0) }
    private let most = 512

    @Test("One client leaves others as much as it has, and all together stay within a bound")
    func bounds() {
        var held = HeldBytes(max: 2 * most)

        let added = [
            (most, clients[0]), (1, clients[0]), (most - 1, clients[1]), (1, nil), (1, clients[2]), (1, nil),
        ].map { held.add($0.0, of: $0.1) }

        #expect(added == [true, false, true, true, false, false])
        #expect(held.count == held.max)
        held.remove(10, of: clients[0])
        let again = [held.add(10, of: clients[2]), held.add(1, of: clients[0])]
        #expect(again == [true, false])
    }

    @Test("A client that uploads in pieces is counted by their sum")
    func pieces() {
        var held = HeldBytes(max: 2 * most)

        let added = (0..<5).map { _ in held.add(most / 4, of: clients[0]) }
        for _ in 0..<4 { held.remove(most / 4, of: clients[0]) }
        let count = held.count
        let whole = held.add(most, of: clients[0])

        #expect(added == [true, true, true, true, false])
        #expect(count == 0 && whole)
    }

    @Test("While the disk is slow one client's pieces leave room for another's")
    func slowDisk() async {
        let buffers = UploadBuffers()
        let gate = DispatchSemaphore(value: 0)
        let first = buffers.write(1, of: clients[2]) { gate.wait() }

        let taken = [(32 << 20, 0), (1, 0), (1, 1)].map { (bytes, client) in
            buffers.write(bytes, of: clients[client]) {}
        }
        gate.signal()
        await buffers.flush()
        let later = buffers.write(1, of: clients[0]) {}

        #expect(first && taken == [true, false, true] && later)
    }
}
