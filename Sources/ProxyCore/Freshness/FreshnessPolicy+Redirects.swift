// SPDX-License-Identifier: Apache-2.0

import Primitives

extension FreshnessPolicy {
    /// Restricts the reuse of a final response by that of a redirect on the way to it.
    ///
    /// The stored picture answers for the requested URL, so the redirect is reused with it (RFC 9111 §4).
    /// What forbids or limits the redirect's reuse counts. A redirect without directives changes nothing,
    /// though RFC 9110 §15.4 lets only permanent ones be reused by default: otherwise each picture behind a
    /// plain 302 would be fetched every time.
    func narrow(
        _ verdict: inout Verdict, by redirect: OriginHead, forUs: Bool = true
    ) {
        let redirect = forUs ? targeted(redirect)?.head ?? redirect : redirect
        let control = CacheControl(redirect.values(of: "cache-control"))
        let own = directives(redirect, control)
        verdict.directives.formUnion(own.subtracting(.immutable))
        if !own.isEmpty, !own.contains(.immutable) { verdict.directives.remove(.immutable) }
        guard own.contains(.explicitLifetime) else { return }
        let forBrowsers = control.maxAge ?? Self.untilExpires(redirect)
        // Whole seconds, as lifetimes are: `max-age` must not depend on how long the transfer took.
        let (initialAge, age) = (Int64(verdict.initialAge.seconds), Int64(Self.initialAge(redirect).seconds))
        func bound(_ lifetime: Int64, by seconds: Int64?) -> Int64 {
            bounded(min(lifetime, initialAge + max(0, (seconds ?? 0) - age)))
        }
        if control.sharedMaxAge != nil || verdict.browserLifetime != nil {
            verdict.browserLifetime = bound(
                verdict.browserLifetime ?? verdict.freshnessLifetime, by: forBrowsers ?? control.sharedMaxAge)
        }
        verdict.freshnessLifetime = bound(verdict.freshnessLifetime, by: control.sharedMaxAge ?? forBrowsers)
    }
}
