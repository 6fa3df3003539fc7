// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
import HTTPServer
import Imaging
import Loading
import Origins
import Pipeline
import Primitives
import Request
import Sharing
import URLs

extension ProxyConfiguration {
    /// Returns every value that its row does not allow or that contradicts another; empty if all are valid.
    func problems() -> [ConfigurationIssue] {
        var problems = Problems()
        for setting in Self.settings.rows {
            for value in setting.refused(self) {
                problems.refuse(setting.path, value, allowed: setting.allowed ?? "another value")
            }
        }
        listeners(&problems)
        lifetimes(&problems)
        fetches(&problems)
        sources(&problems)
        nodes(&problems)
        pictures(&problems)
        presets(&problems)
        dialects(&problems)
        return problems.issues
    }

    /// Collects problems.
    private struct Problems {
        var issues: [ConfigurationIssue] = []

        /// Reports a value; `allowed` completes "expected …".
        mutating func refuse(_ path: String, _ value: String, allowed: String) {
            let shown = SecretSettings.contains(path) ? "the value" : value
            report(path, "\(shown) is not allowed, expected \(allowed)")
        }

        /// Reports a text.
        mutating func refuse(_ path: String, text: String, allowed: String) {
            refuse(path, text.json.compact, allowed: allowed)
        }

        /// Reports a problem in its own words.
        mutating func report(_ path: String, _ problem: String) {
            issues.append(ConfigurationIssue(path: path, problem: problem))
        }

        /// Reports two addresses of which only one can be listened on.
        /// - Parameter count: how many of them belong to the setting; the others are another listener's.
        mutating func requireDistinct(_ path: String, _ addresses: [HTTPServer.Address], count: Int) {
            for (index, address) in addresses.prefix(count).enumerated() {
                guard let other = addresses[(index + 1)...].first(where: { address.overlaps($0) }) else {
                    continue
                }
                refuse(
                    path, text: address.description,
                    allowed: "addresses that differ; \(other) takes the same place")
            }
        }
    }

    private func listeners(_ problems: inout Problems) {
        let serving = Self.addresses("listen", listen, &problems, allowed: "")
        problems.requireDistinct("listen", serving, count: serving.count)
        let isProtected = !security.sources.isEmpty || security.openProxy || security.requiresSignatures
        if !isProtected, let open = serving.first(where: { !$0.isLocal }) {
            problems.refuse(
                "listen", text: open.description,
                allowed: """
                    loopback or a unix socket while security.sources is empty, no signature is required and \
                    security.openProxy is false
                    """)
        }
        let operating = Self.addresses(
            "admin.listen", admin.listen.filter { $0 != "auto" }, &problems, allowed: "auto, ")
        problems.requireDistinct("admin.listen", operating + serving, count: operating.count)
        let measuring = Self.addresses("metrics.listen", metrics.listen, &problems, allowed: "")
        problems.requireDistinct(
            "metrics.listen", measuring + operating + serving, count: measuring.count)
        for address in operating where !address.isLocal && admin.token.isEmpty {
            problems.refuse(
                "admin.listen", text: address.description,
                allowed: "loopback or a unix socket while there is no admin.token")
        }
    }

    private static func addresses(
        _ path: String, _ texts: [String], _ problems: inout Problems, allowed: String
    ) -> [HTTPServer.Address] {
        texts.compactMap { text in
            do throws(HTTPServer.Address.ParseError) {
                return try HTTPServer.Address(parsing: text)
            } catch {
                problems.refuse(
                    path, text: text, allowed: "\(allowed)127.0.0.1:8080, [::1]:8080 or unix:/path, no name")
                return nil
            }
        }
    }

    private func lifetimes(_ problems: inout Problems) {
        let (heuristic, breaker) = (freshness.heuristic, failedURLs.breaker)
        let pairs = [
            ("freshness.minimum", freshness.minimum, "freshness.maximum", freshness.maximum),
            ("freshness.default", freshness.default, "freshness.maximum", freshness.maximum),
            (
                "freshness.heuristic.minimum", heuristic.minimum, "freshness.heuristic.maximum",
                heuristic.maximum
            ),
            ("failedURLs.breaker.pause", breaker.pause, "failedURLs.breaker.maximum", breaker.maximum),
        ]
        for (key, value, bound, most) in pairs where value > most {
            problems.refuse(key, "\(value)", allowed: "at most \(bound), \(most)")
        }
    }

    private func fetches(_ problems: inout Problems) {
        for path in cache.disk.readOnlyPaths where path == cache.disk.directory {
            problems.refuse(
                "cache.disk.readOnlyPaths", text: path, allowed: "another folder than cache.disk.directory")
        }
        for (name, value) in fetch.headers.sorted(by: { $0.key < $1.key }) {
            if !FetchConfiguration.isField(name, value) {
                problems.refuse(
                    "fetch.headers.\(name)", value,
                    allowed: "a field name (RFC 9110 §5.1) with printable ASCII as its value")
            } else if !FieldSyntax.mayBeConfigured(name) {
                let setting = ["user-agent": "fetch.userAgent", "via": "fetch.via"][name.lowercased()]
                problems.report(
                    "fetch.headers.\(name)",
                    setting.map { "is set by \($0)" } ?? "the daemon sets this field itself for each request")
            }
        }
        if !fetch.proxy.isEmpty, !security.trustFetchProxy {
            problems.refuse(
                "fetch.proxy", fetch.proxy,
                allowed:
                    "nothing while security.trustFetchProxy is false: behind it addresses can't be checked")
        }
    }

    private func sources(_ problems: inout Problems) {
        // Without the secrets, which the user who checks may not be allowed to read.
        for error in OriginRules.problems(of: origins, secrets: .checking) {
            problems.report("origins.\(error.index).\(error.key)", error.reason)
        }
        do throws(SourcePolicyError) {
            _ = try SourcePolicy(
                patterns: security.sources, buckets: Buckets(origins, secrets: .checking))
        } catch {
            problems.refuse(
                "security.sources.\(error.index)", text: security.sources[error.index],
                allowed: "a URL pattern: \(error.reason)")
        }
        if security.requireSignature == true, security.keys.isEmpty {
            problems.refuse("security.requireSignature", "true", allowed: "security.keys with it")
        }
    }

    /// What nodes share.
    private func nodes(_ problems: inout Problems) {
        do throws(OriginRuleError) {
            _ = try StorePlace(shared, secrets: .checking)
        } catch {
            problems.report("shared.\(error.key)", error.reason)
        }
        if !cluster.peers.isEmpty, cluster.key.isEmpty {
            problems.report(
                "cluster.key", "expected a file with a key: cluster.peers does not work without one")
        }
        if cluster.forward, cluster.peers.isEmpty {
            problems.refuse("cluster.forward", "true", allowed: "cluster.peers with it")
        }
    }

    /// What formats without an effect, or that can't be read back, are named.
    private func pictures(_ problems: inout Problems) {
        for (index, format) in formats.auto.enumerated() where !format.isWritable(decoding: formats.decode) {
            problems.report(
                "formats.auto.\(index)",
                "\"\(format.rawValue)\" is written only where formats.decode names it, too")
        }
        for (index, rule) in origins.enumerated() {
            guard let format = rule.storeAs, !formats.decode.contains(format) else { continue }
            problems.report(
                "origins.\(index).storeAs",
                "\"\(format.rawValue)\" can't be read back: formats.decode must name it, too")
        }
        if formats.svgPassThrough, !formats.decode.contains(.svg) {
            problems.report(
                "formats.svgPassThrough", "true has no effect until formats.decode names \"svg\"")
        }
    }

    /// Presets are parsed like requests.
    private func presets(_ problems: inout Problems) {
        if security.onlyPresets, presets.isEmpty {
            problems.refuse(
                "security.onlyPresets", "true",
                allowed: "false while there are no presets: every request would be refused")
        }
        let parser = parser(policy: unrestrictedPolicy)
        for (name, preset) in presets.sorted(by: { $0.key < $1.key }) {
            if name.isEmpty { problems.report("presets", "a preset without a name can't be requested") }
            for error in parser.problems(of: preset, followsHints: http.clientHints) {
                let parameter = PipelineError(error).parameter.map { ".\($0.name)" } ?? ""
                problems.report("presets.\(name)\(parameter)", statement(of: error))
            }
        }
    }

    /// The dialects' own settings are checked once their files are read.
    private func dialects(_ problems: inout Problems) {
        for (index, dialect) in dialects.enumerated() {
            let prefix = dialect.prefix
            let isPath = prefix.hasPrefix("/") && prefix.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            if !isPath || prefix.contains("?") {
                problems.report(
                    "dialects.\(index).prefix",
                    "\(prefix.json.compact) is not allowed, expected a path such as / or /old")
            }
            for (setting, watermark) in dialect.watermarkNames where watermarks[watermark] == nil {
                problems.report(
                    "dialects.\(index).\(setting)", "\(watermark.json.compact) is no name in watermarks")
            }
            if dialects.count(where: { $0.prefix == prefix }) > 1 {
                problems.report(
                    "dialects.\(index).prefix",
                    "\(prefix.json.compact) is another dialect's, too; expected another path for each")
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

    /// What `sign` says of a target; nil when the daemon would answer it, as far as the settings show.
    /// - Parameter daemon: whose settings these are.
    func remark(
        onTarget target: String, of daemon: String,
        at now: Int64 = SystemTime.seconds()
    ) -> String? {
        let bytes = Array(target.utf8)
        var policy = unrestrictedPolicy
        policy.presets = presets
        policy.onlyPresets = security.onlyPresets
        let parser = parser(policy: policy)
        do throws(ImageRequestError) {
            return Self.warning(try Self.problem(ofTarget: bytes, parser, at: now), daemon)
        } catch .missingParameter("url") {
            // A placeholder: the picture is not looked at. Ignored: nothing.
            let upload = try? SourceURL.upload([])
            do throws(ImageRequestError) {
                let bringing = upload.map { parser.taking($0, isOperator: true) } ?? parser
                return Self.warning(try Self.problem(ofTarget: bytes, bringing, at: now), daemon)
                    ?? "note: without 'url' it is for a POST with the picture as its body"
            } catch {
                return Self.warning(PipelineError(error).explanation, daemon)
            }
        } catch {
            return Self.warning(PipelineError(error).explanation, daemon)
        }
    }

    private static func warning(_ problem: String?, _ daemon: String) -> String? {
        problem.map { "warning: \(daemon) would refuse this: \($0)" }
    }

    private static func problem(
        ofTarget target: [UInt8], _ parser: ImageRequestParser, at now: Int64
    ) throws(ImageRequestError) -> String? {
        if let position = HTTPRequest.forbiddenByte(inTarget: target) {
            return "position \(position): this character must be percent-encoded"
        }
        let query = try PathForm.query(of: target)
        switch String(decoding: query.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self) {
        case "/img":
            _ = try parser.parse(
                query: query.drop { $0 != UInt8(ascii: "?") }.dropFirst(), isSigned: true, at: now,
                dpr: .init(ratio: nil)
            ) { AcceptClass() }
        case "/info": _ = try parser.parseInformation(target: target, at: now)
        // Its parameters are those of each URL that it makes.
        case "/srcset": return nil
        case let path: return "what can be signed is at /img, /info and /srcset, not at \(path)"
        }
        return nil
    }

    /// Any source, with the pictures that the settings name.
    private var unrestrictedPolicy: RequestPolicy {
        var policy = RequestPolicy(sources: .unrestricted)
        policy.buckets = Buckets(origins, secrets: .checking)
        policy.placeholders = Set(placeholders.keys)
        for name in watermarks.keys { policy.watermarks[name] = WatermarkImage(name: name, bytes: []) }
        return policy
    }

    private func parser(policy: RequestPolicy) -> ImageRequestParser {
        ImageRequestParser(limits: limits, formats: formats, quality: quality, policy: policy)
    }
}

extension HTTPServer.Address {
    /// Whether only one of the two can be listened on: they are equal, or one stands for all addresses of the
    /// machine. With port 0 each gets a port of its own.
    fileprivate func overlaps(_ other: HTTPServer.Address) -> Bool {
        switch (self, other) {
        case (.unix(let path), .unix(let otherPath)): return path == otherPath
        case (.tcp(let host, let port), .tcp(let otherHost, let otherPort)):
            guard port != 0, port == otherPort else { return false }
            return host == otherHost || Self.covers(host, otherHost) || Self.covers(otherHost, host)
        default: return false
        }
    }

    /// Whether a host means every address of the other's family; `::` includes those of IPv4.
    private static func covers(_ host: String, _ other: String) -> Bool {
        host == "::" || host == "0.0.0.0" && !other.contains(":")
    }
}
