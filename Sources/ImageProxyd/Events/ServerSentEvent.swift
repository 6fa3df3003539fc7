// SPDX-License-Identifier: Apache-2.0

/// An event of `text/event-stream` (WHATWG HTML, "Server-sent events").
struct ServerSentEvent: Sendable {
    /// The event's type; without line breaks.
    let name: StaticString
    /// Its text; each line of it becomes a line of data.
    let data: String

    var bytes: [UInt8] {
        let lines = data.utf8.split(omittingEmptySubsequences: false) {
            $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
        }
        var bytes = Array("event: \(name)\n".utf8)
        for line in lines { bytes += Array("data: ".utf8) + line + [UInt8(ascii: "\n")] }
        return bytes + [UInt8(ascii: "\n")]
    }

    /// A comment, which shows readers and proxies that the stream lives.
    static let heartBeat = Array(":\n\n".utf8)
}

/// What happened to a topic since its last event.
enum EventStep: Sendable {
    case event(ServerSentEvent)
    case unchanged
    /// The last event: then the streams end.
    case last(ServerSentEvent)
}

/// Something that readers watch: they are sent its state, not its history. Safe from any thread.
protocol EventTopic: AnyObject, Sendable {
    /// The state for a reader that begins now. Not `unchanged`.
    func present() -> EventStep

    /// The state once a second while there is a reader, the first time a second after the first reader has begun; one
    /// call for all readers. A topic that is over returns `last` each time.
    func next() -> EventStep
}
