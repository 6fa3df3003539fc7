// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Bodies
@testable import Answering
@testable import ImageProxyd

@Suite("The budget of descriptors")
struct DescriptorShareTests {
    /// Stands for the tiers: records the bounds.
    private final class Files: Sendable {
        let bounds = Mutex<[Int]>([])
        let open = Mutex(0)
        let bodies = BodyFiles()

        func share(descriptors: Int, wanted: Int) -> DescriptorShare {
            DescriptorShare(
                budget: DescriptorBudget(all: descriptors, loops: 2, workers: 2), wanted: wanted,
                bodies: bodies,
                keepFiles: { bound in self.bounds.withLock { $0.append(bound) } },
                closeFiles: { count in
                    self.open.withLock { open in
                        let closed = min(open, count)
                        open -= closed
                        return closed
                    }
                })
        }
    }

    @Test(
        "Cached open files get the descriptors that remain after two for each client and a reserve",
        arguments: [
            (16_384, 20_000, 0, 16_384), (16_384, 20_000, 64, 16_384), (16_384, 20_000, 2_000, 14_244),
            (16_384, 20_000, 10_000, 0), (16_384, 1_024, 64, 516), (16_384, 1_024, 16_000, 0),
            (0, 20_000, 1, 0),
        ])
    func files(wanted: Int, descriptors: Int, connections: Int, files: Int) {
        #expect(
            DescriptorShare.files(
                wanted, of: DescriptorBudget(all: descriptors, loops: 2, workers: 2), beside: connections)
                == files)
    }

    @Test(
        "Cached open files lose descriptors in steps as clients connect, and get them back as they disconnect"
    )
    func sharing() {
        let files = Files()
        let share = files.share(descriptors: 1_024, wanted: 1_000)

        for _ in 0..<65 { share.connectionsChanged(by: 1) }
        for _ in 0..<65 { share.connectionsChanged(by: -1) }

        #expect(files.bounds.withLock { $0 } == [644, 516, 388, 516, 644])
    }

    @Test("The share is right in the end, in whatever order loops report their clients")
    func crowd() async {
        let files = Files()
        let share = files.share(descriptors: 1_024, wanted: 1_000)

        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        for change in [1, 1, -1, -1] { share.connectionsChanged(by: change) }
                    }
                    for _ in 0..<9 { share.connectionsChanged(by: 1) }
                }
            }
        }

        #expect(files.bounds.withLock(\.last) == 388)
    }

    @Test("Exhausted descriptors are taken from cached open files as long as there are any")
    func relief() {
        let files = Files()
        let share = files.share(descriptors: 1_024, wanted: 1_000)
        files.open.withLock { $0 = 300 }

        #expect(share.freeDescriptors())
        #expect(files.open.withLock { $0 } == 44)
        #expect(share.freeDescriptors())
        #expect(!share.freeDescriptors())
    }

    @Test(
        "The budget covers all clients, a file for as many of them as possible, and a reserve",
        arguments: [(96, 8), (128, 20), (400, 200), (1_024, 512), (4_096, 2_048), (20_000, 16_928)])
    func budget(descriptors: Int, connections: Int) {
        let budget = DescriptorBudget(all: descriptors, loops: 2, workers: 2)

        #expect(budget.connections == connections)
        #expect(descriptors < 128 || budget.connections + budget.others <= descriptors)
    }

    @Test("Files of answers that are being sent do not take all descriptors")
    func bodyFiles() throws {
        let files = Files()
        let share = files.share(descriptors: 400, wanted: 100)
        for _ in 0..<200 { share.connectionsChanged(by: 1) }

        let crowded = entered(files.bodies)
        for _ in 0..<crowded { files.bodies.leave() }
        for _ in 0..<200 { share.connectionsChanged(by: -1) }
        let lonely = entered(files.bodies)

        #expect(crowded == 15)
        #expect(lonely == 215)
    }

    /// How many more files may be opened.
    private func entered(_ files: BodyFiles) -> Int {
        var count = 0
        while files.enter() { count += 1 }
        return count
    }
}
