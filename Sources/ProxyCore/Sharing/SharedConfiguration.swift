// SPDX-License-Identifier: Apache-2.0

package import Origins
package import Primitives

/// The tier that nodes share: a bucket of an object store. Configuration: `shared`.
package struct SharedConfiguration: SettingGroup {
    package var bucket: OriginRuleConfiguration.Bucket?
    package var prefix = ""
    package var auth: OriginRuleConfiguration.Auth?
    package var tls: OriginRuleConfiguration.TLS?
    package var timeout = TimeSpan.milliseconds(250)
    var minUses = 2
    var minCost = TimeSpan.milliseconds(100)
    package var originals = true
    package var maxAge = TimeSpan.days(30)
    package var sweepInterval = TimeSpan.days(1)
    package var queueBytes = ByteCount.mebibytes(4)
    package var objectBytes = ByteCount.mebibytes(64)
    var maxReads = 64
    var maxWrites = 4
    package var journalInterval = TimeSpan.seconds(30)
    var encryption = ""
    var encryptionKey = ""

    /// Creates the defaults: no shared tier.
    package init() {}

    package static let settings = SettingTable<Self>(
        "The tier that nodes share (see docs/scaling.md).", reload: .needsRestart
    ) {
        Setting(
            "bucket", \.bucket, isSecret: true,
            """
            `{"url": "s3://name/", "region": "…", "endpoint": "https://…", "pathStyle": true}`: the bucket, of any store
            with the interface of S3. Without one there is no shared tier.
            """)
        Setting(
            "prefix", \.prefix, allowed: "letters, digits and - _ . / that end with a slash",
            "What the names of all objects begin with, such as `pictures/`."
        ) { $0.isEmpty || $0.hasSuffix("/") && $0.utf8.allSatisfy(Self.isAllowed) }
        Setting(
            "auth", \.auth, isSecret: true,
            "`{\"type\": \"awsSigV4\", …}` as in [`origins`](origins.md); without it, what AWS' variables say."
        )
        Setting("tls", \.tls, isSecret: true, "How the store's certificate is verified, as in `origins`.")
        Setting(
            "timeout", \.timeout, in: .milliseconds(10)...(.seconds(10)),
            """
            The longest time that one look-up in the store delays a miss, which makes two at most; beyond it the tier has
            nothing.
            """)
        Setting(
            "minUses", \.minUses, in: 1...1_000,
            """
            A picture is uploaded once it is used this often, counted at most once a minute while it is in memory; or
            at once where `minCost` says so.
            """)
        Setting(
            "minCost", \.minCost, in: .milliseconds(0)...(.hours(1)),
            "A picture is uploaded at once where fetching and transforming it took this long.")
        Setting(
            "originals", \.originals,
            "Whether originals are uploaded, too: for other sizes of them, and for pictures without a transform."
        )
        Setting(
            "maxAge", \.maxAge, in: .hours(1)...(.days(3_650)),
            "Objects are not used after this time, counted from their upload, and are deleted by the sweep.")
        Setting(
            "sweepInterval", \.sweepInterval, in: .minutes(1)...(.days(365)), orZero: "never",
            """
            How often the bucket is looked through for objects past `maxAge`, by all nodes together; `0s` leaves that
            to the bucket's own lifecycle rule, which `imageproxyd shared lifecycle` prints.
            """)
        Setting(
            "queueBytes", \.queueBytes, in: .kibibytes(64)...(.gibibytes(1)),
            """
            Most bytes of the names of pictures that wait to be uploaded, 256 more for each; what does not fit is not
            uploaded, and counted.
            """)
        Setting(
            "objectBytes", \.objectBytes, in: .mebibytes(1)...(.gibibytes(64)),
            """
            Most bytes of objects that are being received from the store at the same time, and of those being sent; each is
            in memory twice at most. What does not fit is a miss, or is not uploaded.
            """)
        Setting(
            "maxReads", \.maxReads, in: 1...10_000,
            "Look-ups in the store at the same time; beyond it the tier has nothing.")
        Setting("maxWrites", \.maxWrites, in: 1...1_000, "Uploads at the same time.")
        Setting(
            "journalInterval", \.journalInterval, in: .seconds(1)...(.seconds(30)),
            """
            How often the journal of purges is read. A node that has not read it for a minute neither uses nor fills the
            tier.
            """)
        Setting(
            "encryption", \.encryption, allowed: "a field's value",
            "The value of `x-amz-server-side-encryption` of uploads, such as `aws:kms`."
        ) { FieldSyntax.isValue($0) }
        Setting(
            "encryptionKey", \.encryptionKey, allowed: "a field's value",
            "The value of `x-amz-server-side-encryption-aws-kms-key-id` of uploads."
        ) { FieldSyntax.isValue($0) }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-_./".utf8.contains(byte)
    }

    /// The tier's bucket as a rule for origins, from which its URLs, keys and certificates follow; nil without a bucket.
    package var rule: OriginRuleConfiguration? {
        guard let bucket else { return nil }
        var rule = OriginRuleConfiguration()
        rule.bucket = bucket
        rule.auth = auth ?? .awsSigV4(OriginRuleConfiguration.AWSCredentials())
        rule.tls = tls
        return rule
    }
}
