// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Cache
import Observability
import Primitives
import URLs

/// A failure of a request for an image: its row of the table, and what is known of this very failure.
///
/// `PipelineError+Table` lists the rows. Texts here are safe to show to a client, but for `reason` and `fault`, which quote
/// libcurl, libvips or the kernel and go to the logs.
package struct PipelineError: Error, Sendable, Hashable {
    /// What holds for every failure of its kind.
    package let row: Row
    /// One sentence about this very failure: `detail` of the problem document.
    private var statedDetail: String?
    /// The parameter at fault, and the offset of the fault in its decoded value, in bytes.
    package private(set) var parameter: Parameter?
    /// The origin's status code, where it is the reason.
    package private(set) var upstreamStatus: Int?
    /// Seconds after which a retry makes sense; nil where waiting does not help.
    package private(set) var retryAfter: Int?
    /// What was said of the failure, for the access log alone; not compared.
    package private(set) var reason = FailureReason.none
    /// The bytes that it is about; not compared.
    private(set) var content = FailedContent(hash: nil)
    /// What failed inside the daemon, for its log alone; nil where nothing did.
    package private(set) var fault: String?

    /// A parameter at fault.
    package struct Parameter: Sendable, Hashable {
        package let name: String
        /// The offset in its decoded value, in bytes; nil where it has none.
        package let position: Int?
    }

    /// What holds for every failure of one kind. Equal to itself alone.
    package final class Row: Sendable {
        /// The status code of the answer.
        package let status: Int
        /// The stable, machine-readable name of the failure: `code` of the problem document.
        package let code: String
        /// One short sentence for people: `title` of the problem document.
        package let title: String
        /// The failure's name in the access log, where the operator may see more than a client.
        package let logCode: String
        /// Whether and as what it is remembered.
        package let memory: Memory?
        /// Where the fault lies.
        let cause: Cause
        /// What it says of the origin's availability.
        let originState: OriginState
        /// The label under which a failed fetch is counted.
        let fetchLabel: Metric.Fetch
        /// The label under which a failed rendering is counted.
        let transformLabel: Metric.Transform

        fileprivate init(
            _ status: Int, _ code: String, _ title: String, _ logCode: String?, _ memory: Memory?,
            _ cause: Cause, _ origin: OriginState, _ fetch: Metric.Fetch, _ transform: Metric.Transform
        ) {
            (self.status, self.code, self.title, self.logCode) = (status, code, title, logCode ?? code)
            (self.memory, self.cause, originState) = (memory, cause, origin)
            (fetchLabel, transformLabel) = (fetch, transform)
        }
    }

    /// As what a failure is remembered.
    package struct Memory: Sendable, Hashable {
        /// The class, which decides the time.
        package let kind: FailureClass
        /// Whether the source or only this result is refused.
        package let scope: Scope
    }

    /// What a remembered failure refuses.
    package enum Scope: Sendable, Hashable {
        /// Every fetch of the source.
        case source
        /// The transform for this result.
        case result
    }

    /// Where the fault lies.
    enum Cause: Sendable {
        /// The request: it was refused before the origin was asked.
        case request
        /// What is to be done with the picture: another plan may work with the same source.
        case plan
        /// The source: the origin answered, and not with a picture that can be used.
        case source
        /// The source or the plan; decoding the source alone shows which.
        case sourceOrPlan
        /// The origin, or the way to it: a stale copy may stand in (RFC 5861 §4).
        case origin
        /// The origin, which is left alone for a while because of what it did before: it was not asked now.
        case pausedOrigin
        /// The daemon's present state: nothing is known against the source, and a stale copy may stand in.
        case daemon
        /// The client, which left.
        case client
    }

    /// What the end of a fetch says of the origin that was asked last.
    enum OriginState: Sendable {
        /// It answered; with what, does not matter.
        case answered
        /// It took the request, and did not answer it.
        case connected
        /// It could not be connected to.
        case notConnected
        /// Nothing.
        case unknown
    }

    /// A row of the table.
    /// - Parameters:
    ///   - kind: as what the failure is remembered; not at all where it is nil.
    ///   - retryAfter: seconds, where they are always the same.
    init(
        _ status: Int, _ code: String, _ title: String, remembered kind: FailureClass? = nil,
        of scope: Scope = .source, cause: Cause, origin: OriginState? = nil, retryAfter: Int? = nil,
        fetch: Metric.Fetch = .notAnImage, transform: Metric.Transform = .notAnImage, detail: String? = nil,
        logCode: String? = nil
    ) {
        let usual: OriginState = [.daemon, .client, .pausedOrigin].contains(cause) ? .unknown : .answered
        row = Row(
            status, code, title, logCode, kind.map { Memory(kind: $0, scope: scope) }, cause, origin ?? usual,
            fetch, transform)
        self.retryAfter = retryAfter
        statedDetail = detail
    }
}

extension PipelineError.Row: Hashable {
    /// One row is equal to itself alone.
    package static func == (left: PipelineError.Row, right: PipelineError.Row) -> Bool { left === right }

    /// Hashes its identity.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PipelineError {
    /// One sentence about this very failure: `detail` of the problem document.
    package var detail: String? { statedDetail ?? upstreamStatus.map { "the origin answered \($0)" } }

    /// Whether a stale copy may stand in for this failure (RFC 5861 §4): one of the origin, or of the way to it.
    ///
    /// Not where the origin says that there is no such image, or none for us.
    var allowsStale: Bool { [.origin, .pausedOrigin, .daemon].contains(row.cause) }

    /// Whether the request was on its way to the origin when it failed.
    ///
    /// A name that resolves to forbidden addresses counts as one that does not resolve.
    var wasForwarded: Bool { ![.request, .pausedOrigin, .daemon, .client].contains(row.cause) }

    /// Whether the same job may well succeed another time, so that nothing is known against its source.
    package var isTemporary: Bool { [.pausedOrigin, .daemon, .client].contains(row.cause) }

    /// Whether it arose from bytes that had been fetched well, so that they will do no better for another size.
    var isOfDecoding: Bool { row.memory?.kind == .badImage && row != Self.sourceTooLarge.row }

    /// Whether the source may be at fault if one result fails: decoding it alone then shows that.
    var needsVerification: Bool {
        row.memory?.scope == .result && (row.cause == .source || row.cause == .sourceOrPlan)
    }

    /// Whether the plan is at fault, so that it would fail with another stand-in for the source, too.
    var isOfPlan: Bool { row.cause == .plan || row.cause == .sourceOrPlan }

    /// Bytes that its texts take of memory.
    var byteCount: Int { reason.byteCount + (statedDetail?.utf8.count ?? 0) + (fault?.utf8.count ?? 0) }

    // MARK: - What is known of one failure

    /// The same with the time that is left until a retry makes sense.
    func with(secondsLeft seconds: Int64) -> PipelineError {
        upstreamStatus != nil && retryAfter != nil ? after(seconds: Int(seconds)) : self
    }

    /// With `Retry-After`.
    func after(seconds: Int?) -> PipelineError { changed { $0.retryAfter = seconds } }

    /// With the status that the origin answered.
    func answered(_ status: Int) -> PipelineError { changed { $0.upstreamStatus = status } }

    /// With the reason that the log gets.
    func because(_ reason: FailureReason) -> PipelineError { changed { $0.reason = reason } }

    /// The same with what is known of it, for the client and for the log.
    func explained(_ why: Explanation, at hop: SourceURL.Origin? = nil) -> PipelineError {
        let reason = FailureReason(why.text, at: hop)
        guard !reason.text.isEmpty else { return self }
        return saying(reason.text).because(reason)
    }

    /// The same with its detail as the reason, too.
    func loggingDetail(at hop: SourceURL.Origin? = nil) -> PipelineError {
        because(FailureReason(detail ?? "", at: hop))
    }

    /// With the detail that the client gets.
    func saying(_ detail: String?) -> PipelineError { changed { $0.statedDetail = detail } }

    /// With the parameter that is wrong, and the byte where.
    func about(_ name: String, _ position: Int? = nil) -> PipelineError {
        changed { $0.parameter = Parameter(name: name, position: position) }
    }

    /// With the bytes of the source that have failed.
    func of(_ content: ContentHash) -> PipelineError { changed { $0.content = FailedContent(hash: content) } }

    /// With what failed within the daemon, for the log alone.
    func failed(_ text: String) -> PipelineError {
        changed { ($0.fault, $0.reason) = (text, FailureReason(text)) }
    }

    private func changed(_ change: (inout PipelineError) -> Void) -> PipelineError {
        var copy = self
        change(&copy)
        return copy
    }
}
