// SPDX-License-Identifier: Apache-2.0

package import Primitives

extension FreshnessPolicy {
    /// Whether a stored response may be used without a request to the origin.
    package enum Reuse: Sendable, Hashable {
        /// Serve it: it is fresh.
        case fresh
        /// Serve it, and revalidate it meanwhile (RFC 5861 §3).
        case whileRevalidating
        /// Serve it: the client accepts stale ones (`max-stale`).
        case asClientAllows
        /// Send a request to the origin.
        case forbidden
    }

    /// Decides on a stored response at `now` (RFC 9111 §4.2, §5.2.1).
    package func reuse(of record: SourceRecord, at now: WallTime, for directives: RequestDirectives) -> Reuse
    {
        guard !directives.noCache, !directives.refreshesCached,
            record.reuse.directives.isDisjoint(with: [.noCache, .mustConfirm]), !record.isOfTheFuture(at: now)
        else { return .forbidden }
        let age = record.currentAge(at: now)
        // max-age=0 is how browsers reload: not even a copy of this second is enough.
        if let maxAge = directives.maxAge, age > maxAge || maxAge == 0 { return .forbidden }
        let staleness = age - record.reuse.freshnessLifetime
        guard staleness >= 0 else { return -staleness < directives.minFresh ?? 0 ? .forbidden : .fresh }
        return reuseOfStale(record, staleness, for: directives)
    }

    private func reuseOfStale(
        _ record: SourceRecord, _ staleness: Int64, for directives: RequestDirectives
    ) -> Reuse {
        guard !record.reuse.directives.forbidStale, directives.minFresh == nil else { return .forbidden }
        if let maxStale = directives.maxStale { return staleness <= maxStale ? .asClientAllows : .forbidden }
        // A client that sends max-age without max-stale accepts nothing stale (RFC 9111 §5.2.1.1).
        guard directives.maxAge == nil else { return .forbidden }
        return staleness < windowWhileRevalidating(record) ? .whileRevalidating : .forbidden
    }

    /// Hot path: whether a stale response may be served while it is revalidated, to a client without
    /// directives.
    package func mayServeWhileRevalidating(_ record: SourceRecord, at now: WallTime) -> Bool {
        !record.reuse.directives.forbidStale && record.staleness(at: now) < windowWhileRevalidating(record)
            && !record.isOfTheFuture(at: now)
    }

    /// Whether a stored response may be served in place of an error (RFC 5861 §4).
    package func mayServeOnError(
        _ record: SourceRecord, at now: WallTime, for directives: RequestDirectives
    ) -> Bool {
        guard !directives.noCache, record.reuse.directives.isDisjoint(with: [.noCache, .mustConfirm]) else {
            return false
        }
        let staleness = record.staleness(at: now)
        guard staleness >= 0 || record.isOfTheFuture(at: now) else { return true }
        let window = record.reuse.staleIfError ?? Int64(configuration.staleIfError.seconds)
        return !record.reuse.directives.forbidStale && staleness < window
    }

    /// Seconds for which an error may be remembered for its URL; nil if it does not say.
    ///
    /// An error's reuse is controlled by its own fields like any other (RFC 9111 §3, §4.2); without them the
    /// table of errors decides.
    package func lifetime(ofRefusal head: OriginHead) -> Int64? {
        guard configuration.respectOrigin else { return nil }
        let verdict = verdict(on: head)
        guard verdict.directives.isDisjoint(with: [.noStore, .isPrivate, .noCache]) else { return 0 }
        guard verdict.directives.contains(.explicitLifetime) else { return nil }
        return max(0, verdict.freshnessLifetime - Int64(verdict.initialAge.seconds))
    }

    /// The origin's window; the configured one only if the origin says nothing about freshness at all.
    ///
    /// RFC 9111 §4.2.4 requires an explicit permission to serve stale: an origin that sends a lifetime, but
    /// no window, has not given it.
    private func windowWhileRevalidating(_ record: SourceRecord) -> Int64 {
        if let seconds = record.reuse.staleWhileRevalidate { return seconds }
        let isOurs = !record.reuse.directives.contains(.explicitLifetime)
        return isOurs ? Int64(configuration.staleWhileRevalidate.seconds) : 0
    }
}
