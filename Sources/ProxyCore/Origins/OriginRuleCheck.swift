// SPDX-License-Identifier: Apache-2.0

import CLinux
import Freshness
import Glibc
import Primitives
import URLs

/// Checks one rule's members; its errors name the rule and the member.
struct OriginRuleCheck {
    let index: Int

    /// The range of concurrent fetches that a rule may set.
    private static let concurrency = 1...10_000
    /// The size of the largest file of certificates, in bytes.
    private static let maxCertificates = ByteCount.mebibytes(4)
    private static let acceptable: [ClosedRange<Int>] = [200...203, 207...299, 400...599]

    /// Calls `read` and adds the member's name to its errors.
    func reading<Value>(
        _ key: String, _ read: () throws(OriginRuleError.Reason) -> Value
    ) throws(OriginRuleError) -> Value {
        do {
            return try read()
        } catch {
            throw failure(error.key ?? key, error.text)
        }
    }

    /// Parses the patterns; at least one, or a bucket, is required.
    func patterns(
        _ rule: OriginRuleConfiguration, _ secrets: SecretReader, _ buckets: Buckets
    ) throws(OriginRuleError) -> [URLPattern] {
        let bucket = try reading("bucket") { () throws(OriginRuleError.Reason) in
            try rule.resolvedBucket(secrets)
        }
        guard bucket == nil || rule.match.isEmpty else {
            throw failure("match", "a rule has either match or bucket, not both")
        }
        let texts = bucket?.patterns ?? rule.match
        guard !texts.isEmpty else {
            throw failure("match", "expected at least one URL pattern, or a bucket instead")
        }
        var patterns: [URLPattern] = []
        for text in texts {
            do throws(URLPattern.Invalid) {
                patterns += try buckets.patterns(text)
            } catch {
                throw failure("match", "\"\(text)\" is not allowed: \(error.reason)")
            }
        }
        return patterns
    }

    func options(_ names: [String]) throws(OriginRuleError) -> ImageOptions {
        var options: ImageOptions = []
        for name in names {
            guard let option = ImageOptions(named: name) else {
                let known = ImageOptions.names.map(\.name).joined(separator: ", ")
                throw failure("options", "\"\(name)\" is no option, expected some of \(known)")
            }
            options.insert(option)
        }
        return options
    }

    /// Checks the numbers, and the members that depend on another member.
    func bounds(_ rule: OriginRuleConfiguration) throws(OriginRuleError) {
        if let count = rule.maxConcurrent, !Self.concurrency.contains(count) {
            throw failure("maxConcurrent", "\(count) is not allowed, expected 1 to 10000")
        }
        for status in rule.acceptStatus where !Self.acceptable.contains(where: { $0.contains(status) }) {
            throw failure(
                "acceptStatus", "\(status) is not allowed, expected 2xx, 4xx or 5xx but 204, 205 and 206")
        }
        try lifetimes(rule.responseTTL)
        try certificates(rule)
        try folder(rule)
    }

    private func lifetimes(_ lifetime: OriginRuleConfiguration.TTL?) throws(OriginRuleError) {
        guard let lifetime else { return }
        if let minimum = lifetime.minimum, let maximum = lifetime.maximum, minimum > maximum {
            throw failure("responseTTL", "the minimum is above the maximum")
        }
        guard lifetime.override == nil || lifetime.minimum == nil && lifetime.maximum == nil else {
            throw failure("responseTTL", "override stands alone")
        }
    }

    private func certificates(_ rule: OriginRuleConfiguration) throws(OriginRuleError) {
        guard let path = rule.tls?.ca else { return }
        guard rule.tls?.insecure == false else { throw failure("tls", "either insecure or ca, not both") }
        guard unsafe access(path, R_OK) == 0 else { throw failure("tls.ca", "\(path) can't be read") }
    }

    private func folder(_ rule: OriginRuleConfiguration) throws(OriginRuleError) {
        guard rule.loader == .file else {
            guard rule.root == nil else { throw failure("root", "only together with \"loader\": \"file\"") }
            return
        }
        guard let root = rule.root, root.hasPrefix("/") else {
            throw failure("root", "expected the absolute path of a folder")
        }
        guard rule.auth == nil, rule.requestHeaders.isEmpty, rule.cookies == .ignore, rule.tls == nil else {
            throw failure("loader", "files need no requestHeaders, auth, cookies or tls")
        }
        guard rule.decode == .none, rule.responseContentType.isEmpty, rule.acceptStatus.isEmpty,
            rule.maxConcurrent == nil
        else {
            throw failure(
                "loader", "files know no decode, responseContentType, acceptStatus or maxConcurrent")
        }
    }

    /// Checks the file and the folder that the rule names.
    func files(_ rule: OriginRuleConfiguration) throws(OriginRuleError) {
        if let path = rule.tls?.ca {
            let bytes = try reading("tls.ca") { () throws(OriginRuleError.Reason) in
                try SecretReader.contents(of: path, maxBytes: Self.maxCertificates)
            }
            guard PEM.holdsCertificate(bytes) else {
                throw failure("tls.ca", "\(path) holds no certificate in PEM (RFC 7468)")
            }
        }
        guard rule.loader == .file, let root = rule.root else { return }
        var facts = stat()
        guard unsafe stat(root, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else {
            throw failure("root", "\(root) is no folder that can be seen")
        }
        guard unsafe access(root, X_OK) == 0 else { throw failure("root", "\(root) can't be entered") }
    }

    private func failure(_ key: String, _ reason: String) -> OriginRuleError {
        OriginRuleError(index: index, key: key, reason: reason)
    }
}
