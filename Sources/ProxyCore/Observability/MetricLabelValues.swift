// SPDX-License-Identifier: Apache-2.0

/// The values that labels can take: one enum a label, named after it. A new value is one case at the end.
package enum Metric {
    /// Which route a request was for; `other` is one that does not exist.
    package enum Route: Int, CaseIterable, MetricLabels {
        case img, info, healthz, readyz, metrics, transforms, playground, admin, other, srcset, cluster

        /// The path of the route, `/` for those with several; `-` for answers of the server itself.
        package var path: String {
            switch self {
            case .playground, .admin: "/"
            case .other: "-"
            default: "/\(label)"
            }
        }
    }

    /// How the cache took part in an answer; `none` if it did not (health checks, errors), `failure` if it remembered an
    /// error.
    package enum Cache: Int, CaseIterable, MetricLabels {
        case none, memory, disk, original, stale, revalidated, collapsed, miss, shared, failure

        /// Whether bytes answered that this node had, or that another one or the shared tier had for it: this node has waited for no
        /// origin and no worker. A source's home may have.
        @inlinable
        package var isHit: Bool { self == .memory || self == .disk || self == .stale || self == .shared }
    }

    /// What several requests share.
    package enum SharedTask: Int, CaseIterable, MetricLabels {
        case fetch, transform

        package static var names: [String] { ["task"] }
    }

    /// Where the fault of a failed request lies: the `client` that sent it; the `source`, which is not there or no usable
    /// picture; its `origin`, or the way to it; the `daemon` or the machine that it runs on.
    package enum FailureCause: Int, CaseIterable, MetricLabels {
        case client, source, origin, daemon

        package static var names: [String] { ["cause"] }

        /// The cause of an answer for which nothing else is known than its status.
        @inlinable
        package init(status: Int) {
            self = status < 500 ? .client : .daemon
        }
    }

    /// How a reload of the settings ended: all of them are those read, or all are as they were.
    package enum Reload: Int, CaseIterable, MetricLabels {
        case applied, refused

        package static var names: [String] { ["outcome"] }
    }

    /// How a fetch ended.
    package enum Fetch: Int, CaseIterable, MetricLabels {
        case ok, notModified, notFound, status, notAnImage, tooLarge, timeout, unreachable, tls, redirects
        case forbidden, incomplete, queue, storage, cancelled, keys

        package static var names: [String] { ["outcome"] }
    }

    /// A phase of a fetch.
    package enum Phase: Int, CaseIterable, MetricLabels {
        case dns, connect, tls, ttfb, body
    }

    /// The format that was written; `none` if no picture was.
    package enum Format: Int, CaseIterable, MetricLabels {
        case none, jpeg, png, webp, avif, gif, tiff, jxl

        /// The value for a format's name; `none` for a name that is not in the list.
        package init(named name: String) {
            self = Self.byName[name] ?? .none
        }

        private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.label, $0) })
    }

    /// How a transform ended.
    package enum Transform: Int, CaseIterable, MetricLabels {
        case ok, notAnImage, unsupported, limit, badImage, crashed, timeout, empty, queue, unavailable,
            cancelled

        package static var names: [String] { ["outcome"] }
    }

    /// The outcome of improving a result: `replaced` the first, or `kept` that since it was no larger;
    /// `interrupted` by a client's job; `outdated` since the result or its source had changed or been
    /// removed; `refused` since the queue was full.
    package enum Improvement: Int, CaseIterable, MetricLabels {
        case replaced, kept, interrupted, outdated, failed, refused

        package static var names: [String] { ["outcome"] }
    }

    /// An exchange with the object store of the shared tier.
    package enum SharedOperation: Int, CaseIterable, MetricLabels {
        case get, put, delete, list

        package static var names: [String] { ["operation"] }
    }

    /// The outcome of a prefetch of one image: `made` and stored, `skipped` since it was stored and fresh, `failed`,
    /// or `cancelled` with its order.
    package enum Prefetch: Int, CaseIterable, MetricLabels {
        case made, skipped, failed, cancelled

        package static var names: [String] { ["outcome"] }
    }

    /// A status code of HTTP.
    package struct Status: MetricLabels, ExpressibleByIntegerLiteral {
        /// The code, 100–599.
        package let code: Int

        /// Wraps a code; one outside HTTP's range counts as 599, so that it is visible.
        @inlinable
        package init(_ code: Int) {
            self.code = (100...599).contains(code) ? code : 599
        }

        /// Wraps a code written in the source.
        @inlinable
        package init(integerLiteral value: Int) {
            self.init(value)
        }

        package static var names: [String] { ["status"] }

        @inlinable
        package static var count: Int { 500 }

        @inlinable
        package var index: Int { code - 100 }

        package static func values(at index: Int) -> [String] { ["\(index + 100)"] }
    }
}

// MARK: - Values of readings

/// The values that other modules' readings have, in words of theirs: a test of the daemon compares them with those.
extension Metric {
    static let tiers = ["memory", "disk"]
    static let entryKinds = ["original", "result", "intermediate", "derived"]
    static let evictions = [
        "age", "size", "count", "replaced", "purged", "pressure", "corrupt", "missing",
    ]
    static let sharedOutcomes = ["ok", "missing", "unusable", "failed", "timed_out", "skipped"]
    static let failureClasses = [
        "not_found", "client_error", "not_an_image", "bad_image", "connection", "unanswered", "retry_after",
    ]
    static let restarts = ["crash", "timeout", "memory", "recycled", "cancelled", "start"]
    static let rejections = [
        "malformed", "body_too_large", "target_too_long", "unknown_expectation", "head_too_large",
        "not_implemented", "version_not_supported", "misdirected", "too_many_connections",
        "out_of_descriptors", "overload", "evicted", "header_timeout", "body_timeout", "write_timeout",
        "request_timeout", "broken_body", "reset", "incomplete",
    ]
}
