// SPDX-License-Identifier: Apache-2.0

import Freshness
import Loading
import Primitives
import Synchronization

/// The answer of a store, or of another node.
struct ExchangeAnswer: Sendable {
    var status: Int
    var fields: [HeaderField]
    var content: [UInt8]

    /// The first value of a field; `name` in lower case.
    func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    var document: XMLText { XMLText(String(decoding: content, as: UTF8.self)[...]) }

    /// The failure that the status is.
    var refusal: ExchangeError { .refused(status, document.element("Code")?.prefix(64).description ?? "") }

    /// The object that it contains.
    func object(by clock: StoreClock) -> StoredObject {
        let now = clock.now
        let date = clock.time(of: self) ?? now
        let storedAt = field("last-modified").flatMap { HTTPDate($0, now: now) }?.seconds ?? date
        let start = "x-amz-meta-"
        let metadata = fields.filter { $0.name.hasPrefix(start) }.map {
            ($0.name.dropFirst(start.count), $0.value)
        }
        return StoredObject(
            content: content, age: max(0, date - storedAt), storedAt: storedAt,
            metadata: Dictionary(
                metadata.map { (String($0.0), $0.1) }, uniquingKeysWith: { first, _ in first }))
    }
}

/// Collects an answer within a bound.
final class ExchangeAnswerReceiver: OriginReceiving {
    private let limit: Int
    /// Counts the bytes until the receiver is released; nil where they are few.
    private let budget: ByteBudget?
    private let state = Mutex<ExchangeAnswer?>(nil)
    private let reserved = Mutex(0)

    /// The maximum number of bytes of what says why the store refuses.
    private static let maxRefusal = 64 << 10

    /// - Parameter limit: the maximum number of bytes of an object.
    init(limit: Int, budget: ByteBudget? = nil) { (self.limit, self.budget) = (limit, budget) }

    deinit { budget?.release(reserved.withLock { $0 }) }

    /// What has been received; nil without a head.
    var answer: ExchangeAnswer? { state.withLock { $0 } }

    func receive(head: OriginHead) throws(LoadError) {
        if let budget {
            let count = min(limit, head.contentLength ?? limit)
            guard budget.reserve(count) else { throw .queueFull }
            reserved.withLock { $0 = count }
        }
        state.withLock { $0 = ExchangeAnswer(status: head.status, fields: head.fields, content: []) }
    }

    func receive(bytes: UnsafeRawBufferPointer) throws(LoadError) {
        let copy = unsafe Array(bytes)
        let isWithin = state.withLock { answer in
            answer?.content += copy
            return answer.map { $0.content.count <= ($0.status == 200 ? limit : max(limit, Self.maxRefusal)) }
                ?? false
        }
        guard isWithin else { throw .tooLarge }
    }
}
