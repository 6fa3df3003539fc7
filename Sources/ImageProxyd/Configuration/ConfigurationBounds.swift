// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
import HTTPServer
import Imaging
import Loading
import Observability
import Origins
import Pipeline
import Primitives
import Rendering
import Request
import URLs

// The bounds of every setting, one function a section, in the order of ProxyConfiguration.

extension ProxyConfiguration {
    /// Returns every value that is out of bounds or contradicts another; empty if all are valid.
    func problems() -> [ConfigurationIssue] { bounds().issues }

    /// Checks every value.
    func bounds() -> ConfigurationCheck {
        var check = ConfigurationCheck()
        addressBounds(&check)
        http.bounds(&check)
        cache.bounds(&check)
        freshness.bounds(&check)
        failedURLs.bounds(&check)
        fetch.bounds(&check)
        originBounds(&check)
        transform.bounds(&check)
        limits.bounds(&check)
        formats.bounds(&check)
        quality.bounds(&check)
        security.bounds(&check)
        requestBounds(&check)
        adminBounds(&check)
        check.require(
            "fetch.proxy", fetch.proxy, fetch.proxy.isEmpty || security.trustFetchProxy,
            allowed: "nothing while security.trustFetchProxy is false: behind it addresses can't be checked")
        check.require("log.accessRecords", log.accessRecords, in: 16...65_536)
        return check
    }

    /// Checks everything but the secrets, which the user who checks may not be allowed to read.
    private func originBounds(_ check: inout ConfigurationCheck) {
        for error in OriginRules.problems(of: origins, secrets: .checking) {
            check.reportError("origins.\(error.index).\(error.key)", error.reason)
        }
    }

    private func addressBounds(_ check: inout ConfigurationCheck) {
        check.require(
            "listen", JSONValue.strings(listen).compact, !listen.isEmpty, allowed: "at least one address")
        var addresses: [HTTPServer.Address] = []
        for text in listen {
            do throws(HTTPServer.Address.ParseError) {
                addresses.append(try HTTPServer.Address(parsing: text))
            } catch {
                check.refuse("listen", text, allowed: "127.0.0.1:8080, [::1]:8080 or unix:/path")
            }
        }
        check.requireDistinct("listen", addresses)
        guard security.sources.isEmpty, !security.openProxy, !security.requiresSignatures,
            let open = addresses.first(where: { !$0.isLocal })
        else {
            return
        }
        check.refuse(
            "listen", open.description,
            allowed:
                """
                loopback or a unix socket while security.sources is empty, no signature is required and \
                security.openProxy is false
                """)
    }

    private func adminBounds(_ check: inout ConfigurationCheck) {
        // A text that is not an address is reported at its own setting.
        let addresses = (admin.listen + listen).compactMap { try? HTTPServer.Address(parsing: $0) }
        check.requireDistinct("admin.listen", addresses, count: admin.listen.count { $0 != "auto" })
        for text in admin.listen where text != "auto" {
            do throws(HTTPServer.Address.ParseError) {
                let address = try HTTPServer.Address(parsing: text)
                check.require(
                    "admin.listen", text, address.isLocal || !admin.token.isEmpty,
                    allowed: "loopback or a unix socket while there is no admin.token")
            } catch {
                check.refuse("admin.listen", text, allowed: "auto, 127.0.0.1:8081, [::1]:8081 or unix:/path")
            }
        }
    }

    /// Presets are parsed like requests.
    private func requestBounds(_ check: inout ConfigurationCheck) {
        check.require(
            "security.onlyPresets", security.onlyPresets, !security.onlyPresets || !presets.isEmpty,
            allowed: "false while there are no presets: every request would be refused")
        let parser = parser(policy: unrestrictedPolicy)
        for (name, preset) in presets.sorted(by: { $0.key < $1.key }) {
            for error in parser.problems(of: preset, followsHints: http.clientHints) {
                let parameter = PipelineError(error).parameter.map { ".\($0.name)" } ?? ""
                check.reportError("presets.\(name)\(parameter)", statement(of: error))
            }
        }
    }

    /// What is wrong with a parameter that the setting's path names already.
    private func statement(of error: ImageRequestError) -> String {
        if case .invalidParameter(_, let position, let reason) = error {
            return position == 0 ? reason : "position \(position): \(reason)"
        }
        let failure = PipelineError(error)
        return failure.detail ?? failure.row.title
    }

    /// What is wrong with a signed target; nil when the daemon would answer it, as far as the settings can tell.
    func problem(ofTarget target: String, at now: Int64 = SystemTime.seconds()) -> String? {
        let bytes = Array(target.utf8)
        if let position = HTTPRequest.forbiddenByte(inTarget: bytes) {
            return "position \(position): this character must be percent-encoded"
        }
        let query = bytes.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        var policy = unrestrictedPolicy
        policy.presets = presets
        policy.onlyPresets = security.onlyPresets
        do throws(ImageRequestError) {
            switch target.prefix(while: { $0 != "?" }) {
            case "/img":
                _ = try parser(policy: policy).parse(
                    query: query, isSigned: true, at: now, dpr: .init(ratio: nil)
                ) { AcceptClass() }
            case "/info": _ = try parser(policy: policy).parseInformation(target: bytes, at: now)
            case let path: return "images are at /img and /info, not at \(path)"
            }
            return nil
        } catch {
            let failure = PipelineError(error)
            return failure.detail ?? failure.row.title
        }
    }

    /// Any source, with the pictures that the settings name.
    private var unrestrictedPolicy: RequestPolicy {
        var policy = RequestPolicy(sources: .unrestricted)
        policy.placeholders = Set(placeholders.keys)
        for name in watermarks.keys { policy.watermarks[name] = WatermarkImage(name: name, bytes: []) }
        return policy
    }

    private func parser(policy: RequestPolicy) -> ImageRequestParser {
        ImageRequestParser(limits: limits, formats: formats, quality: quality, policy: policy)
    }
}

extension JSONValue {
    /// A list of texts.
    static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}

extension HTTPSection {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        let time = TimeSpan.milliseconds(1)...TimeSpan.hours(1)
        check.require("http.loops", loops, in: 1...1_024, orZero: "one per core")
        check.require("http.maxConnections", maxConnections, in: 1...1_000_000)
        check.require("http.headerTimeout", headerTimeout, in: time)
        check.require("http.idleTimeout", idleTimeout, in: time)
        check.require("http.bodyTimeout", bodyTimeout, in: time)
        check.require("http.writeTimeout", writeTimeout, in: time)
        check.require("http.minSendRate", minSendRate, in: ByteCount(0)...(.mebibytes(1)))
        check.require("http.requestTimeout", requestTimeout, in: time)
        check.require("http.drainGrace", drainGrace, in: TimeSpan.seconds(0)...(.seconds(30)))
        check.require("http.maxHeaderBytes", maxHeaderBytes, in: .kibibytes(1)...(.mebibytes(1)))
        check.require("http.maxTargetBytes", maxTargetBytes, in: ByteCount(256)...(.mebibytes(1)))
        check.require("http.maxBodyBytes", maxBodyBytes, in: ByteCount(0)...(.gibibytes(1)))
        check.require("http.maxFieldLines", maxFieldLines, in: 1...10_000)
        for network in trustedProxies where Network(network) == nil {
            check.refuse("http.trustedProxies", network, allowed: "a network such as 10.0.0.0/8 or fd00::/8")
        }
        origins("http.cors", cors, &check)
        origins("http.timingAllowOrigin", timingAllowOrigin, &check)
    }

    /// `*` alone, or origins as a browser spells them: scheme, host, and port unless it is the default.
    private func origins(_ key: String, _ origins: [String], _ check: inout ConfigurationCheck) {
        guard origins != ["*"] else { return }
        for origin in origins where !isOrigin(origin) {
            check.refuse(key, origin, allowed: "\"*\" alone, or origins such as https://a.example")
        }
    }
}

extension FreshnessConfiguration {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        let longest = TimeSpan.days(36_500)
        check.require("freshness.maximum", maximum, in: .seconds(0)...longest)
        check.require(
            "freshness.minimum", minimum, minimum <= min(maximum, longest),
            allowed: "at most freshness.maximum, \(maximum)"
        )
        check.require(
            "freshness.default", self.default, self.default <= min(maximum, longest),
            allowed: "at most freshness.maximum, \(maximum)")
        check.require("freshness.heuristic.factor", heuristic.factor, in: 0...1)
        check.require("freshness.heuristic.maximum", heuristic.maximum, in: .seconds(0)...longest)
        check.require(
            "freshness.heuristic.minimum", heuristic.minimum,
            heuristic.minimum <= min(heuristic.maximum, longest),
            allowed: "at most freshness.heuristic.maximum, \(heuristic.maximum)")
        check.require("freshness.staleWhileRevalidate", staleWhileRevalidate, in: .seconds(0)...longest)
        check.require("freshness.staleIfError", staleIfError, in: .seconds(0)...longest)
        check.require("freshness.maxRefreshes", maxRefreshes, in: 1...10_000)
        check.require("freshness.refreshPause", refreshPause, in: .seconds(0)...(.hours(1)))
        check.require(
            "freshness.targets", JSONValue.strings(targets).compact, targets.count <= 8, allowed: "at most 8")
        for name in targets where FieldName(name) == nil || name.lowercased() == "cache-control" {
            check.refuse("freshness.targets", name, allowed: "names of fields such as CDN-Cache-Control")
        }
    }
}

extension FailedURLsConfiguration {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        let time = TimeSpan.seconds(0)...TimeSpan.days(30)
        check.require("failedURLs.maxEntries", maxEntries, in: 1...10_000_000)
        check.require("failedURLs.ttl.notFound", ttl.notFound, in: time)
        check.require("failedURLs.ttl.clientError", ttl.clientError, in: time)
        check.require("failedURLs.ttl.notAnImage", ttl.notAnImage, in: time)
        check.require("failedURLs.ttl.badImage", ttl.badImage, in: time)
        check.require("failedURLs.ttl.connection", ttl.connection, in: time)
        check.require("failedURLs.ttl.unanswered", ttl.unanswered, in: time)
        check.require("failedURLs.maxRetryAfter", maxRetryAfter, in: .seconds(0)...(.hours(1)))
        check.require("failedURLs.jitter", jitter, in: 0...0.5)
        check.require("failedURLs.breaker.failures", breaker.failures, in: 1...1_000)
        check.require("failedURLs.breaker.pause", breaker.pause, in: .seconds(1)...(.hours(1)))
        check.require(
            "failedURLs.breaker.maximum", breaker.maximum, in: min(breaker.pause, .days(1))...(.days(1)))
        check.require("failedURLs.breaker.maxHosts", breaker.maxHosts, in: 1...10_000_000)
    }
}

extension FetchConfiguration {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        let time = TimeSpan.milliseconds(1)...TimeSpan.hours(1)
        check.require("fetch.maxConcurrent", maxConcurrent, in: 1...10_000)
        check.require("fetch.maxPerHost", maxPerHost, in: 1...10_000)
        check.require("fetch.clientShare", clientShare, in: 0.1...1)
        check.require("fetch.queue", queue, in: 0...1_000_000)
        check.require("fetch.queueTimeout", queueTimeout, in: time)
        check.require("fetch.connectTimeout", connectTimeout, in: time)
        check.require("fetch.firstByteTimeout", firstByteTimeout, in: time)
        check.require("fetch.totalTimeout", totalTimeout, in: time)
        check.require("fetch.lowSpeed", lowSpeed, in: ByteCount(0)...(.gibibytes(1)))
        check.require("fetch.lowSpeedTime", lowSpeedTime, in: .seconds(1)...(.hours(1)))
        check.require("fetch.maxRedirects", maxRedirects, in: 0...50)
        check.require("fetch.maxBytes", maxBytes, in: .kibibytes(1)...(.gibibytes(16)))
        check.require("fetch.maxHeadBytes", maxHeadBytes, in: .kibibytes(1)...(.mebibytes(16)))
        check.require("fetch.retries", retries, in: 0...10)
        check.require("fetch.retryDelay", retryDelay, in: .milliseconds(0)...(.seconds(10)))
        check.require("fetch.maxRetryAfter", maxRetryAfter, in: .seconds(0)...(.days(1)))
        check.require("fetch.connectionLifetime", connectionLifetime, in: .seconds(0)...(.days(1)))
        check.require("fetch.distrust", distrust, in: .seconds(0)...(.days(1)))
        check.require(
            "fetch.userAgent", userAgent, isFieldValue(userAgent),
            allowed: "printable ASCII without line breaks")
        check.require("fetch.via", via, via.isToken, allowed: "a token (RFC 9110 §5.6.2)")
        check.require(
            "fetch.proxy", proxy, proxy.isEmpty || Self.isProxy(proxy),
            allowed: "http://host:port, https://host:port or socks5h://host:port")
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            check.require(
                "fetch.headers.\(name)", value, name.isToken && isFieldValue(value),
                allowed: "a field name (RFC 9110 §5.1) with printable ASCII as its value")
        }
    }
}

extension TransformConfiguration {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        let time = TimeSpan.milliseconds(1)...TimeSpan.hours(1)
        check.require("transform.workers", workers, in: 1...1_024, orZero: "one per core")
        check.require(
            "transform.queue", queue, in: 1...1_000_000, orZero: "1024, or 32 × workers where that is more")
        check.require("transform.queueTimeout", queueTimeout, in: time)
        check.require("transform.cheapestAfter", cheapestAfter, in: .seconds(0)...(.hours(1)))
        check.require("transform.improve.queue", improve.queue, in: 1...100_000)
        check.require("transform.improve.maxAge", improve.maxAge, in: .seconds(0)...(.days(1)))
        check.require("transform.timeout", timeout, in: time)
        let memory = ByteCount.mebibytes(64)...(.gibibytes(1 << 18))
        check.require("transform.memoryPerWorker", memoryPerWorker, in: memory, orZero: "no limit")
        check.require(
            "transform.memoryBudget", memoryBudget, in: memory, orZero: "workers × memoryPerWorker")
        check.require("transform.headerMemory", headerMemory, in: .mebibytes(16)...(.gibibytes(16)))
        check.require("transform.headerTime", headerTime, in: .milliseconds(10)...(.minutes(1)))
        check.require("transform.jobsPerWorker", jobsPerWorker, in: 1...1_000_000_000)
        check.require("transform.niceness", niceness, in: 0...19)
        check.require("transform.intermediates.side", intermediates.side, in: 64...65_536)
        check.require("transform.intermediates.minPixels", intermediates.minPixels, in: 0...10_000_000_000)
        check.require("transform.intermediates.quality", intermediates.quality, in: 1...100)
        check.require("transform.intermediates.originals", intermediates.originals, in: 1...10_000_000)
    }
}

extension RenderLimits {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        check.require("limits.sourcePixels", sourcePixels, in: 1...10_000_000_000)
        check.require("limits.frames", frames, in: 1...100_000)
        check.require("limits.side", side, in: 1...10_000_000)
        check.require("limits.outputPixels", outputPixels, in: 1...10_000_000_000)
        check.require("limits.operations", operations, in: 1...1_000)
        check.require("limits.unsignedWork", unsignedWork, in: 1...1_000_000)
    }
}

extension FormatsConfiguration {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        let writable = ImageFormat.allCases.filter(\.row.isWritable).map(\.rawValue)
        for format in auto where !format.row.isWritable {
            check.refuse(
                "formats.auto", format.rawValue, allowed: "formats of \(writable.joined(separator: ", "))")
        }
        check.require(
            "formats.auto", JSONValue.strings(auto.map(\.rawValue)).compact, Set(auto).count == auto.count,
            allowed: "each format once")
        check.require("formats.avifMaxPixels", avifMaxPixels, in: 0...10_000_000_000)
        check.require("formats.decode", "[]", !decode.isEmpty, allowed: "at least one format")
    }
}

extension QualityConfiguration {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        check.require("quality.jpeg", jpeg, in: 1...100)
        check.require("quality.webp", webp, in: 1...100)
        check.require("quality.avif", avif, in: 1...100)
        check.require("quality.jxl", jxl, in: 1...100)
    }
}

extension SecuritySection {
    fileprivate func bounds(_ check: inout ConfigurationCheck) {
        do throws(SourcePolicyError) {
            _ = try SourcePolicy(patterns: sources)
        } catch {
            check.refuse(
                "security.sources.\(error.index)", sources[error.index],
                allowed: "a URL pattern: \(error.reason)")
        }
        for network in allowedNetworks where Network(network) == nil {
            check.refuse(
                "security.allowedNetworks", network, allowed: "a network such as 10.0.0.0/8 or fd00::/8")
        }
        for network in deniedNetworks where Network(network) == nil {
            check.refuse(
                "security.deniedNetworks", network, allowed: "a network such as 10.0.0.0/8 or fd00::/8")
        }
        check.require(
            "security.rateLimit.requests", rateLimit.requests, in: 1...1_000_000, orZero: "no limit")
        check.require("security.rateLimit.window", rateLimit.window, in: .seconds(1)...(.days(1)))
        check.require(
            "security.rateLimit.burst", rateLimit.burst, in: 1...1_000_000, orZero: "as many as requests")
        check.require("security.rateLimit.maxClients", rateLimit.maxClients, in: 16...100_000_000)
        for port in ports { check.require("security.ports", port, in: 1...65_535) }
        check.require(
            "security.keys", keys.count, keys.count <= SignaturePolicy.maxKeys,
            allowed: "at most \(SignaturePolicy.maxKeys) keys")
        check.require(
            "security.requireSignature", true, requireSignature != true || !keys.isEmpty,
            allowed: "security.keys with it")
        for name in allowedOptions where ImageOptions(named: name) == nil && name != Self.priority {
            let names = (ImageOptions.names.map(\.name) + [Self.priority]).joined(separator: ", ")
            check.refuse("security.allowedOptions", name, allowed: "one of \(names)")
        }
    }
}

/// Whether `text` is a field value (RFC 9110 §5.5) of printable ASCII.
private func isFieldValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && text.first != " " && text.last != " "
}

/// Whether `text` is an origin as a browser spells it in `Origin` (RFC 6454 §6.2).
private func isOrigin(_ text: String) -> Bool {
    guard let url = try? SourceURL(parsing: text) else { return false }
    return url.normalized == text + "/"
}
