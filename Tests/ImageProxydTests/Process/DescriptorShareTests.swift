// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import ImageProxyd

@Suite("The descriptors")
struct DescriptorShareTests {
    /// Stands for the tiers: remembers what it was told.
    private final class Files: Sendable {
        let bounds = Mutex<[Int]>([])
        let open = Mutex(0)

        func share(descriptors: Int, wanted: Int) -> DescriptorShare {
            DescriptorShare(
                descriptors: descriptors, wanted: wanted,
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
        "that clients leave are for open files, two for each client and some for others aside",
        arguments: [
            (16_384, 20_000, 0, 16_384), (16_384, 20_000, 64, 16_384), (16_384, 20_000, 2_000, 14_880),
            (16_384, 20_000, 10_000, 0), (16_384, 1_024, 64, 640), (16_384, 1_024, 16_000, 0),
            (0, 20_000, 1, 0),
        ])
    func files(wanted: Int, descriptors: Int, connections: Int, files: Int) {
        #expect(DescriptorShare.files(wanted, of: descriptors, beside: connections) == files)
    }

    @Test("are taken from open files as clients come, in steps, and given back as they go")
    func sharing() {
        let files = Files()
        let share = files.share(descriptors: 1_024, wanted: 1_000)

        for _ in 0..<65 { share.connectionsChanged(by: 1) }
        for _ in 0..<65 { share.connectionsChanged(by: -1) }

        #expect(files.bounds.withLock { $0 } == [768, 640, 512, 640, 768])
    }

    @Test("are shared by what there is in the end, in whatever order loops tell of clients")
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

        #expect(files.bounds.withLock(\.last) == 512)
    }

    @Test("that have run out are taken from open files, as long as there are any")
    func relief() {
        let files = Files()
        let share = files.share(descriptors: 1_024, wanted: 1_000)
        files.open.withLock { $0 = 300 }

        #expect(share.relieve())
        #expect(files.open.withLock { $0 } == 44)
        #expect(share.relieve())
        #expect(!share.relieve())
    }
}
