// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The orders that have ended, and the file that has them and the present ones through a restart.
struct PrefetchHistory: Sendable {
    /// The newest first.
    private(set) var ended: [PrefetchProgress] = []

    /// The maximum number of bytes of the file.
    static let maxBytes = 1 << 20

    /// Adds an order that has ended; the oldest ones are forgotten.
    mutating func add(_ progress: PrefetchProgress, atMost count: Int) {
        ended.insert(progress, at: 0)
        bound(count)
    }

    /// Forgets the oldest orders beyond a number.
    mutating func bound(_ count: Int) { ended = Array(ended.prefix(count)) }

    func progress(of token: String) -> PrefetchProgress? { ended.first { $0.token == token } }

    // MARK: - The file

    /// The file's content: as many orders as it may hold, those that run first.
    static func content(running: [PrefetchProgress], ended: [PrefetchProgress]) -> [UInt8] {
        var lines: [[UInt8]] = []
        var bytes = 0
        for progress in running.reversed() + ended {
            let line = Array(progress.json.compact.utf8)
            bytes += line.count + 2
            guard bytes < maxBytes - 64 else { break }
            lines.append(line)
        }
        return Array("{\"orders\": [\n".utf8) + Array(lines.joined(separator: Array(",\n".utf8)))
            + Array("\n]}\n".utf8)
    }

    /// Reads the file at the start: what ran when it was written has been interrupted. A file that can't be read is as
    /// good as none.
    /// - Parameter count: the maximum number of orders.
    init(at path: String, atMost count: Int) {
        // Ignored: why; the orders of before are then unknown.
        guard
            let bytes = try? FileIO.contents(
                of: path, atMost: ByteCount(Self.maxBytes), isRegular: true)
        else { return }
        var parser = JSONParser(bytes, notesPositions: false)
        // Ignored: where it is no JSON; the same holds.
        guard let object = try? parser.parse(), case .array(let orders)? = object["orders"] else { return }
        ended = orders.prefix(count).compactMap { json in
            guard var progress = PrefetchProgress(json) else { return nil }
            if [.waiting, .running].contains(progress.state) { progress.state = .interrupted }
            return progress
        }
    }
}
