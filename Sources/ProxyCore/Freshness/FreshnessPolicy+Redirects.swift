// SPDX-License-Identifier: Apache-2.0

extension FreshnessPolicy {
    /// Narrows what is said of a final response by what a redirect on the way to it says of itself.
    ///
    /// The stored picture answers for the URL that was asked for, so the redirect is reused with it (RFC 9111 §4). Its
    /// own words count: what forbids or limits its reuse. One that says nothing changes nothing, though RFC 9110 §15.4
    /// lets only permanent ones be reused by default: else each picture behind a plain 302 were asked for every time.
    func narrow(
        _ verdict: inout Verdict, by redirect: OriginHead, isAuthorized: Bool, forUs: Bool = true
    ) {
        let redirect = forUs ? targeted(redirect)?.head ?? redirect : redirect
        let control = CacheControl(redirect.values(of: "cache-control"))
        let own = directives(redirect, control, isAuthorized: isAuthorized)
        verdict.directives.formUnion(own.subtracting(.immutable))
        if !own.isEmpty, !own.contains(.immutable) { verdict.directives.remove(.immutable) }
        guard own.contains(.explicitLifetime) else { return }
        let forBrowsers = control.maxAge ?? Self.untilExpires(redirect)
        let age = Self.initialAge(redirect)
        func bound(_ lifetime: Int64, by seconds: Int64?) -> Int64 {
            bounded(min(lifetime, verdict.initialAge + max(0, (seconds ?? 0) - age)))
        }
        if control.sharedMaxAge != nil || verdict.browserLifetime != nil {
            verdict.browserLifetime = bound(
                verdict.browserLifetime ?? verdict.freshnessLifetime, by: forBrowsers ?? control.sharedMaxAge)
        }
        verdict.freshnessLifetime = bound(verdict.freshnessLifetime, by: control.sharedMaxAge ?? forBrowsers)
    }
}
