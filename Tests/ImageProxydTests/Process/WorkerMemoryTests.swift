// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("The memory of workers")
struct WorkerMemoryTests {
    @Test("It is read once a second, however often it is requested; a worker that has ended counts as none")
    func once() {
        let memory = WorkerMemory()
        var reads: [Int32] = []
        func read(_ process: Int32) -> Int? {
            reads.append(process)
            return process == 3 ? nil : Int(process) * 100
        }

        let first = (0..<5).map { _ in memory.bytes(of: [1, 2, 3], at: 7, read: read) }
        let later = memory.bytes(of: [2], at: 8, read: read)

        #expect(first == [300, 300, 300, 300, 300])
        #expect(later == 200)
        #expect(reads == [1, 2, 3, 2])
    }
}
