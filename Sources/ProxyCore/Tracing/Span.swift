// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// A part of a request's work that has ended, as it is exported (OpenTelemetry, "Span").
package struct Span: Sendable, Hashable {
    /// The span's role in an exchange (OpenTelemetry, "SpanKind").
    package enum Kind: Int, Sendable {
        /// Work within the daemon.
        case `internal` = 1
        /// A request to the daemon.
        case server = 2
        /// A request of the daemon.
        case client = 3
    }

    /// A fact of a span, named as OpenTelemetry's semantic conventions name it, if they do.
    package struct Attribute: Sendable, Hashable {
        package let name: String
        package let value: JSONValue

        /// - Parameter value: a text, a whole number, or true or false.
        package init(_ name: String, _ value: JSONValue) {
            (self.name, self.value) = (name, value)
        }
    }

    package let trace: UInt128
    package let id: UInt64
    /// The span that it is a part of; nil for none.
    package let parent: UInt64?
    package let name: String
    package let kind: Kind
    /// When it began and ended, in nanoseconds since 1970.
    package let start: UInt64, end: UInt64
    package var attributes: [Attribute] = []
    /// Why it failed; nil if it did not.
    package var error: String?

    /// About what it takes in memory and in an export, in bytes.
    var cost: Int {
        let texts = attributes.reduce(name.utf8.count + (error?.utf8.count ?? 0)) { sum, attribute in
            if case .string(let text) = attribute.value {
                return sum + attribute.name.utf8.count + text.utf8.count
            }
            return sum + attribute.name.utf8.count
        }
        return Self.overhead + texts + attributes.count * Self.attributeOverhead
    }

    private static let overhead = 240
    private static let attributeOverhead = 48
}

/// The spans of one request. Safe from any thread.
///
/// A span goes to the exporter when it ends, so that nothing is collected for a request; work that other requests wait
/// for may end after the request itself.
package final class Trace: Sendable {
    /// The trace's id.
    let id: UInt128
    /// The request's span.
    private let root: UInt64
    private let parent: UInt64?
    /// When the request was received, CLOCK_MONOTONIC in nanoseconds.
    private let start: UInt64
    /// What is added to CLOCK_MONOTONIC for nanoseconds since 1970.
    private let epoch: UInt64
    private let queue: SpanQueue

    init(
        id: UInt128, root: UInt64, parent: UInt64?, start: UInt64, epoch: UInt64, queue: SpanQueue
    ) {
        (self.id, self.root, self.parent, self.start) = (id, root, parent, start)
        (self.epoch, self.queue) = (epoch, queue)
    }

    /// Part of the request's work that has begun.
    package struct Part: Sendable {
        let trace: Trace
        let id: UInt64
        let parent: UInt64
        let name: String
        let kind: Span.Kind
        /// CLOCK_MONOTONIC in nanoseconds.
        package let start: UInt64

        /// The field that makes the receiver's spans parts of this one (W3C Trace Context §3.2).
        package var traceparent: String { "00-\(trace.id.digits)-\(id.digits)-01" }

        /// Reports that it has ended now.
        package func end(_ attributes: [Span.Attribute] = [], error: String? = nil, at now: UInt64) {
            trace.record(id, parent, name, kind, start..<max(start, now), attributes, error)
        }

        /// Reports a part of it that has ended.
        package func add(_ name: String, _ time: Range<UInt64>) {
            trace.record(Tracer.newSpan(), id, name, .internal, time, [], nil)
        }
    }

    package func begin(_ name: String, _ kind: Span.Kind = .internal, at now: UInt64) -> Part {
        Part(trace: self, id: Tracer.newSpan(), parent: root, name: name, kind: kind, start: now)
    }

    /// Reports that the request has been answered.
    package func end(
        _ name: String, _ attributes: [Span.Attribute], error: String?, at now: UInt64
    ) {
        record(root, parent, name, .server, start..<max(start, now), attributes, error)
    }

    private func record(
        _ id: UInt64, _ parent: UInt64?, _ name: String, _ kind: Span.Kind, _ time: Range<UInt64>,
        _ attributes: [Span.Attribute], _ error: String?
    ) {
        queue.insert(
            Span(
                trace: self.id, id: id, parent: parent, name: name, kind: kind,
                start: time.lowerBound &+ epoch,
                end: time.upperBound &+ epoch, attributes: attributes, error: error))
    }
}
