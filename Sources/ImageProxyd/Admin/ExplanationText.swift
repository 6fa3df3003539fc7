// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
import Imaging
import Origins
import Pipeline
import Primitives
import Request
import URLs

/// What is known of a request, in words and as JSON.
struct ExplanationText {
    let facts: ImageExplanation
    /// When it is explained.
    let now: WallTime

    /// The steps of a request, in the order in which they happen.
    var steps: [(name: String, text: String)] {
        var steps = [("source", source), ("result", result)]
        steps += facts.stored.map { ("stored", text(of: $0)) }
        if facts.stored.isEmpty { steps.append(("stored", "nothing")) }
        steps.append(("freshness", freshness))
        if let shared { steps.append(("shared", shared)) }
        for (name, failure) in [("source", facts.failures.source), ("result", facts.failures.result)] {
            guard let failure else { continue }
            let left = failure.seconds.asDuration
            let text = "the \(name) has failed, which is remembered for \(left) more: "
            steps.append(("remembered", text + ExplainHandler.text(of: failure.error)))
        }
        if let error = facts.originFailure { steps.append(("origin", text(of: error))) }
        if facts.running.fetch { steps.append(("running", "the source is being fetched")) }
        if facts.running.image { steps.append(("running", "the result is being made")) }
        return steps + [("answer", answer)]
    }

    private var source: String {
        let request = facts.request
        var text = request.source.normalized
        if let rule = request.rule { text += ", by rule \(rule.index) of origins" }
        guard let target = facts.target else { return text + ", which its rule rewrites to no valid URL" }
        return target == request.source ? text : text + ", requested as \(target.normalized)"
    }

    private var result: String {
        guard let plan = facts.request.plan else { return "the original as it is" }
        let operations = plan.pipeline.transformerKey
        let format =
            switch plan.format {
            case .automatic(let formats):
                formats.isEmpty
                    ? "in a format that every client reads"
                    : "in the first fitting format of " + formats.map(\.rawValue).joined(separator: ", ")
            case .explicit(let format): "as \(format.rawValue)"
            case .source: "in the source's format"
            case .information: "facts as JSON"
            }
        return (operations.isEmpty ? "" : "\(operations), ") + format
    }

    private func text(of stored: ImageExplanation.Stored) -> String {
        let description = stored.description
        // Of an intermediate the size of its original is stored, which says what it serves.
        let of = description.kind == .intermediate ? " of an original of" : ","
        let size = description.width > 0 ? "\(of) \(description.width) × \(description.height)" : ""
        let age = max(0, now.seconds - description.storedAt)
        let outdated = stored.isCurrent ? "" : ", of other content than the source's now"
        return "\(stored.tier.rawValue): \(description.kind), \(description.format.rawValue)\(size), "
            + "\(ByteCount(Int(stored.bytes)).rounded), stored \(age.asDuration) ago\(outdated)"
    }

    private var freshness: String {
        guard let record = facts.record, let reuse = facts.reuse else {
            return "nothing is known of the source"
        }
        let left = record.reuse.freshnessLifetime - record.currentAge(at: now)
        switch reuse {
        case .fresh: return "fresh for \(left.asDuration) more"
        case .whileRevalidating:
            return "stale for \((-left).asDuration); sent while the origin is asked in the background"
        case .asClientAllows: return "stale for \((-left).asDuration), which the client allows"
        case .forbidden:
            if left > 0 { return "to be confirmed by the origin before each use" }
            return "stale for \((-left).asDuration); the origin must confirm it"
        }
    }

    private var shared: String? {
        guard let shared = facts.shared else { return nil }
        guard shared.record else { return "the shared tier has nothing of the source that may be used" }
        return shared.picture
            ? "the shared tier has the source's record, and the picture"
            : "the shared tier has the source's record, and not the picture"
    }

    private func text(of error: PipelineError) -> String {
        let wait = error.retryAfter.map { "; again in \(Int64($0).asDuration)" } ?? ""
        return ExplainHandler.text(of: error) + wait
    }

    private var answer: String {
        let refresh =
            facts.reuse == .whileRevalidating ? ", and the origin is asked in the background" : ""
        switch facts.answer {
        case .stored(let tier): return "200 from \(tier.rawValue)\(refresh)"
        case .rendered: return "200, rendered from the stored original\(refresh)"
        case .joined: return "with what another request is having made now"
        case .revalidated: return "the origin is asked whether its picture has changed"
        case .fetched where facts.shared?.picture == true:
            return "200 from the shared tier, while its record is fresh"
        case .fetched: return "the picture is requested from the origin"
        case .failed(let error): return text(of: error)
        }
    }

    /// The same facts for programs.
    var details: JSONValue {
        let request = facts.request
        return [
            "url": .string(request.source.normalized),
            "target": facts.target.map { .string($0.normalized) } ?? .null,
            "rule": request.rule.map { .integer($0.index) } ?? .null,
            "sourceKey": .string("\(request.sourceKey)"), "resultKey": .string("\(request.resultKey)"),
            "transform": request.plan.map { .string($0.pipeline.transformerKey) } ?? .null,
            "tags": .strings(request.delivery.tags),
            "stored": .array(facts.stored.map(json)),
            "source": facts.record.map { $0.json(at: now) } ?? .null,
            "failures": [
                "source": json(facts.failures.source?.error, facts.failures.source?.seconds),
                "result": json(facts.failures.result?.error, facts.failures.result?.seconds),
                "origin": json(facts.originFailure, facts.originFailure?.retryAfter.map { Int64($0) }),
            ],
            "shared": facts.shared.map { ["record": .bool($0.record), "picture": .bool($0.picture)] }
                ?? .null,
            "running": ["fetch": .bool(facts.running.fetch), "result": .bool(facts.running.image)],
        ]
    }

    private func json(_ stored: ImageExplanation.Stored) -> JSONValue {
        [
            "tier": .string(stored.tier.rawValue), "kind": .string("\(stored.description.kind)"),
            "key": .string("\(stored.description.key)"),
            "format": .string(stored.description.format.rawValue), "bytes": .integer(Int(stored.bytes)),
            "stored": .string(HTTPDate(seconds: stored.description.storedAt).description),
            "current": .bool(stored.isCurrent),
        ]
    }

    private func json(_ error: PipelineError?, _ seconds: Int64?) -> JSONValue {
        guard let error else { return .null }
        return [
            "status": .integer(error.row.status), "code": .string(error.row.code),
            "detail": error.detail.map { .string($0) } ?? .null,
            "seconds": seconds.map { .integer(Int($0)) } ?? .null,
        ]
    }
}
