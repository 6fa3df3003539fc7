// SPDX-License-Identifier: Apache-2.0

package import URLs

extension Buckets {
    /// The buckets that rules are about.
    package init(_ rules: [OriginRuleConfiguration], secrets: SecretReader) {
        // Ignored: what is wrong with a bucket; its own rule says so, and can't be used either.
        self.init(rules.compactMap { try? $0.resolvedBucket(secrets) })
    }
}

extension OriginRuleConfiguration {
    /// The bucket that the rule is about, if it is about one, and where that is.
    func resolvedBucket(_ secrets: SecretReader) throws(OriginRuleError.Reason) -> URLs.Bucket? {
        guard let bucket else { return nil }
        do throws(URLs.Bucket.Invalid) {
            let (store, name) = try URLs.Bucket.parse(bucket.url)
            let given = bucket.endpoint ?? (store == .s3 ? Self.endpoint(in: secrets) : nil)
            return try URLs.Bucket(
                store: store, name: name, endpoint: try endpoint(given, of: store, secrets),
                isPathStyle: bucket.pathStyle ?? (store == .gs || given != nil))
        } catch {
            throw .init(error.reason, at: "bucket")
        }
    }

    /// The region that requests are signed for.
    func region(_ secrets: SecretReader) throws(OriginRuleError.Reason) -> String {
        let given = auth.flatMap { auth in
            if case .awsSigV4(let credentials) = auth { credentials.region } else { nil }
        }
        let variables = ["AWS_REGION", "AWS_DEFAULT_REGION"].compactMap(secrets.variable)
        let choices = [given, bucket?.region, isGoogle ? "auto" : nil] + variables
        if let region = choices.compactMap(\.self).first(where: { !$0.isEmpty }) { return region }
        // The user who checks need not have the service's environment.
        guard secrets.isChecking else {
            throw .init("expected a value, here or in AWS_REGION or AWS_DEFAULT_REGION", at: "region")
        }
        return "unread"
    }

    /// Whether the rule is about a bucket of Google's store.
    var isGoogle: Bool { bucket?.url.lowercased().hasPrefix("gs:") ?? false }

    private static func endpoint(in secrets: SecretReader) -> String? {
        secrets.variable("AWS_ENDPOINT_URL_S3") ?? secrets.variable("AWS_ENDPOINT_URL")
    }

    private func endpoint(
        _ given: String?, of store: URLs.Bucket.Store, _ secrets: SecretReader
    ) throws(URLs.Bucket.Invalid) -> SourceURL {
        do {
            let text =
                switch (given, store) {
                case (let given?, _): given
                case (nil, .gs): "https://storage.googleapis.com/"
                case (nil, .s3): try Self.regional("s3", bucket?.region ?? region(secrets))
                }
            return try SourceURL(parsing: text)
        } catch let error as OriginRuleError.Reason {
            throw .init(reason: "region: \(error.text)")
        } catch {
            throw .init(reason: "\"\(given ?? "region")\" is or makes no absolute http or https URL")
        }
    }

    /// The URL of one of AWS' services in a region.
    static func regional(_ service: String, _ region: String) -> String {
        "https://\(service).\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")/"
    }
}
