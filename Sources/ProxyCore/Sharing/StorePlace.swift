// SPDX-License-Identifier: Apache-2.0

package import Origins
import URLs

/// Where the shared tier's bucket is, and how requests for it are signed.
package struct StorePlace: Sendable {
    /// Has the keys and the certificates.
    let rule: OriginRule
    /// The URL of the bucket, which ends in a slash.
    let bucket: String

    /// Reads where it is; nil without a bucket.
    /// - Throws: what is wrong with the settings: the member of `shared`, and why.
    package init?(_ configuration: SharedConfiguration, secrets: SecretReader) throws(OriginRuleError) {
        guard let ruled = configuration.rule, let bucket = configuration.bucket else { return nil }
        let rules = try OriginRules([ruled], secrets: secrets)
        let object = bucket.url + (bucket.url.hasSuffix("/") ? "" : "/") + "x"
        // Ignored: which of the two fails; a bucket of any name has no URL.
        guard !bucket.url.contains("*"), let url = try? rules.buckets.url(object),
            let rule = try? rules.rule(for: url)
        else {
            throw OriginRuleError(
                index: 0, key: "bucket", reason: "expected a bucket with a name, such as s3://pictures/")
        }
        self.rule = rule
        self.bucket = String(url.normalized.dropLast())
    }
}
