// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import URLs

@Suite("Buckets of object stores")
struct BucketTests {
    /// AWS' store with a bucket and all others of another region, and one of another maker.
    private func buckets() throws -> Buckets {
        let frankfurt = try SourceURL(parsing: "https://s3.eu-central-1.amazonaws.com/")
        let local = try SourceURL(parsing: "http://10.0.0.1:9000/base")
        return Buckets([
            try Bucket(store: .s3, name: "photos", endpoint: frankfurt, isPathStyle: false),
            try Bucket(store: .s3, name: "with.dots", endpoint: frankfurt, isPathStyle: false),
            try Bucket(store: .s3, name: "Local_1", endpoint: local, isPathStyle: true),
            try Bucket(
                store: .gs, name: nil, endpoint: SourceURL(parsing: "https://storage.googleapis.com/"),
                isPathStyle: true),
        ])
    }

    @Test(
        "An s3:// or gs:// URL is another spelling of an HTTP URL",
        arguments: [
            ("s3://photos/a.jpg", "https://photos.s3.eu-central-1.amazonaws.com/a.jpg"),
            ("S3://photos/A/b%20c+d.jpg", "https://photos.s3.eu-central-1.amazonaws.com/A/b%20c+d.jpg"),
            ("s3://photos/ä.jpg", "https://photos.s3.eu-central-1.amazonaws.com/%C3%A4.jpg"),
            ("s3://photos//a%2Fb", "https://photos.s3.eu-central-1.amazonaws.com//a%2Fb"),
            (
                "s3://photos/a?versionId=3/L4+x",
                "https://photos.s3.eu-central-1.amazonaws.com/a?versionId=3/L4+x"
            ),
            ("s3://with.dots/a", "https://s3.eu-central-1.amazonaws.com/with.dots/a"),
            ("s3://Local_1/a/b", "http://10.0.0.1:9000/base/Local_1/a/b"),
            ("gs://any/a?generation=12", "https://storage.googleapis.com/any/a?generation=12"),
            ("https://photos.example/a?b", "https://photos.example/a?b"),
        ])
    func spelling(text: String, url: String) throws {
        #expect(try buckets().url(text).normalized == url)
    }

    @Test(
        "A bucket that no rule names is refused by its name",
        arguments: [
            ("s3://other/a", "s3://other/"), ("s3://Photos/a", "s3://Photos/"),
            ("s3://Local_1x/a", "s3://Local_1x/"), ("s3://any/a", "s3://any/"),
        ])
    func unknown(text: String, name: String) throws {
        let buckets = try buckets()

        #expect(throws: SourceURLError.unknownBucket(name)) { try buckets.url(text) }
    }

    @Test(
        "Nothing in an s3:// URL leads to another host, or out of its bucket",
        arguments: [
            "s3://photos@evil.example/a", "s3://photos:80/a", "s3://photos%2f/a", "s3://photos%2eevil/a",
            "s3://photos\\evil/a", "s3:///a", "s3://./a", "s3://../a", "s3://a..b/a", "s3://-a/a",
            "s3://a./a",
            "s3://[::1]/a", "s3://bücher/a", "s3://\(String(repeating: "a", count: 223))/a",
            "s3://*/a", "gs://*/a",
            "s3://Local_1/../photos/a", "s3://Local_1/%2e%2e/a", "s3://Local_1/..%2fx/a",
            "s3://Local_1/.%5c..",
            "s3://Local_1/a/../../x", "s3://photos/..", "s3://photos/%2E%2E/a",
            "s3://photos", "s3://photos/", "s3://photos?a", "s3://photos/?versionId=1", "s3://photos/a#b",
            "s3://photos/a?acl", "s3://photos/a?versionId=1&acl", "s3://photos/a?generation=1",
            "gs://any/a?versionId=1", "s3://photos/a b", "s3://photos/a\u{0}",
        ])
    func confined(text: String) throws {
        let buckets = try buckets()

        #expect(throws: SourceURLError.self) { try buckets.url(text) }
    }

    @Test("A pattern may name a bucket, or all that a rule has for a store")
    func patterns() throws {
        let buckets = try buckets()
        let photos = try SourcePolicy(patterns: ["s3://photos/public/*", "gs://*/*"], buckets: buckets)

        #expect(photos.allows(try buckets.url("s3://photos/public/a.jpg")))
        #expect(!photos.allows(try buckets.url("s3://photos/private/a.jpg")))
        #expect(photos.allows(try buckets.url("gs://any/a")))
        #expect(!photos.allows(try buckets.url("https://storage.googleapis.com.evil.example/a")))
        for text in ["s3://other/*", "s3://*/*", "s3://photos/", "s3://photos", "gs://*/a*", "s3://ph*/*"] {
            #expect(throws: SourcePolicyError.self, "\(text)") {
                try SourcePolicy(patterns: [text], buckets: buckets)
            }
        }
    }

    @Test("All buckets of a store have patterns that no other host matches")
    func allBuckets() throws {
        let endpoint = try SourceURL(parsing: "https://s3.eu-central-1.amazonaws.com/")
        let all = try Bucket(store: .s3, name: nil, endpoint: endpoint, isPathStyle: false)

        #expect(
            all.patterns == [
                "https://*.s3.eu-central-1.amazonaws.com/*", "https://s3.eu-central-1.amazonaws.com/*",
            ])
        let patterns = try all.patterns.map { try URLPattern($0) }
        for text in [
            "https://evil.example/.s3.eu-central-1.amazonaws.com/a",
            "https://s3.eu-central-1.amazonaws.com.evil/",
            "http://a.s3.eu-central-1.amazonaws.com/a", "https://as3.eu-central-1.amazonaws.com/",
        ] {
            let url = try SourceURL(parsing: text)
            #expect(!patterns.contains { $0.matches(url) }, "\(text)")
        }
    }

    @Test(
        "A bucket of the configuration is a store and a name, and no more",
        arguments: [
            "photos", "https://photos/", "s3://photos/key", "s3:///", "s3://a*/", "s3://a@b/", "s4://a/",
        ])
    func invalid(text: String) {
        #expect(throws: Bucket.Invalid.self) { try Bucket.parse(text) }
    }
}
