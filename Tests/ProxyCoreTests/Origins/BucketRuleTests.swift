// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Origins
@testable import Primitives
@testable import URLs

@Suite("A rule about a bucket")
struct BucketRuleTests {
    private func rules(
        _ json: String, _ environment: [String: String] = [:], isChecking: Bool = false
    ) throws -> OriginRules {
        var parser = JSONParser(Array(json.utf8))
        let rules = try [OriginRuleConfiguration](json: parser.parse())
        return try OriginRules(
            rules,
            secrets: isChecking
                ? .checking : SecretReader(credentialsDirectory: nil, environment: environment))
    }

    @Test("takes endpoint, region and keys from where AWS' tools do, and what it says itself first")
    func environment() throws {
        let bucket = #"[{"bucket": {"url": "s3://photos/"}, "auth": {"type": "awsSigV4"}}]"#
        let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"]
        let cases: [(String, [String: String], String, String)] = [
            (bucket, ["AWS_REGION": "eu-west-1"], "https://photos.s3.eu-west-1.amazonaws.com/a", "eu-west-1"),
            (
                bucket, ["AWS_REGION": "", "AWS_DEFAULT_REGION": "cn-north-1"],
                "https://photos.s3.cn-north-1.amazonaws.com.cn/a", "cn-north-1"
            ),
            (
                bucket, ["AWS_REGION": "auto", "AWS_ENDPOINT_URL": "https://x.r2.cloudflarestorage.com"],
                "https://x.r2.cloudflarestorage.com/photos/a", "auto"
            ),
            (
                bucket,
                [
                    "AWS_REGION": "r", "AWS_ENDPOINT_URL": "https://a.example/",
                    "AWS_ENDPOINT_URL_S3": "http://b.example:9000",
                ], "http://b.example:9000/photos/a", "r"
            ),
            (
                #"[{"bucket": {"url": "s3://photos/", "region": "here"}, "auth": {"type": "awsSigV4", "region": "there"}}]"#,
                ["AWS_REGION": "elsewhere"], "https://photos.s3.here.amazonaws.com/a", "there"
            ),
            (
                #"""
                [{"bucket": {"url": "s3://photos/", "region": "r", "endpoint": "https://minio.example/", "pathStyle": false},
                  "auth": {"type": "awsSigV4"}}]
                """#, ["AWS_ENDPOINT_URL": "https://b.example"], "https://photos.minio.example/a", "r"
            ),
        ]
        for (json, variables, url, region) in cases {
            let rules = try rules(json, variables.merging(keys) { $1 })
            let source = try rules.buckets.url("s3://photos/a")
            #expect(source.normalized == url)
            let signature = try #require(try rules.rule(for: source)?.credentials.signature)
            #expect(signature.scope == "aws:amz:\(region):s3")
            #expect(
                signature.keys
                    == .keys(name: .text(Secret("id")), key: .text(Secret("key")), sessionToken: nil))
        }
    }

    @Test(
        "is at Google's store by the path, with its one region and its own keys, whatever AWS' variables say")
    func google() throws {
        let variables = [
            "AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "https://a.example", "AWS_ACCESS_KEY_ID": "id",
            "AWS_SECRET_ACCESS_KEY": "key", "AWS_SESSION_TOKEN": "token",
        ]
        let rules = try rules(
            #"""
            [{"bucket": {"url": "gs://*/"},
              "auth": {"type": "awsSigV4", "accessKey": "id", "secretKey": {"file": "/etc/hostname"}}}]
            """#, variables)

        let source = try rules.buckets.url("gs://photos.example.org/a")

        #expect(source.normalized == "https://storage.googleapis.com/photos.example.org/a")
        #expect(try rules.rule(for: source)?.credentials.signature?.scope == "aws:amz:auto:s3")
        #expect(try rules.rule(for: SourceURL(parsing: "https://storage.example/")) == nil)
        for auth in ["", #", "instanceMetadata": {}"#] {
            let error = #expect(throws: OriginRuleError.self) {
                try self.rules(
                    #"[{"bucket": {"url": "gs://*/"}, "auth": {"type": "awsSigV4"\#(auth)}}]"#, variables)
            }
            #expect(error?.key == "auth.accessKey")
        }
    }

    @Test("authenticates in its bucket and nowhere else; match and rewrite may name it")
    func scope() throws {
        let rules = try rules(
            #"""
            [{"match": "s3://photos/raw/*", "reencode": true},
             {"match": "https://img.example/*", "rewrite": {"from": "https://img.example/", "to": "s3://photos/web/"}},
             {"bucket": {"url": "s3://photos/", "region": "r"}, "auth": {"type": "awsSigV4"}}]
            """#, ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"])
        func rule(_ text: String) throws -> OriginRule? { try rules.rule(for: rules.buckets.url(text)) }

        #expect(try rule("s3://photos/a")?.index == 2)
        #expect(try rule("https://photos.s3.r.amazonaws.com/a")?.index == 2)
        #expect(try rule("s3://photos/raw/a")?.index == 0)
        #expect(try rule("https://others.s3.r.amazonaws.com/a") == nil)
        #expect(try rule("http://photos.s3.r.amazonaws.com/a") == nil)
        let source = try SourceURL(parsing: "https://img.example/x/a.jpg")
        #expect(
            try rules.rule(for: source)?.target(of: source)?.normalized
                == "https://photos.s3.r.amazonaws.com/web/x/a.jpg")
        #expect(throws: AmbiguousURLError()) { try rule("https://photos.s3.r.amazonaws.com/x/..%2fraw/a") }
    }

    @Test("names the member that is wrong or missing, and no secret")
    func errors() throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("s3cret\u{7}".utf8), to: "control")
        func auth(_ members: String) -> String {
            #"[{"match": "https://a.example/*", "auth": {"type": "awsSigV4", "region": "r", \#(members)}}]"#
        }
        func bucket(_ members: String) -> String { #"[{"bucket": {\#(members)}}]"# }
        func file(_ path: String) -> String { #"{"file": "\#(path)"}"# }
        let cases: [(String, String)] = [
            (auth(#""accessKey": "id""#), "auth.secretKey"),
            (auth(#""secretKey": \#(file("/etc/hostname"))"#), "auth.accessKey"),
            (auth(#""accessKey": "id", "secretKey": "s3cret""#), "auth.secretKey"),
            (auth(#""accessKey": "id", "secretKey": \#(file("/none"))"#), "auth.secretKey"),
            (
                auth(#""accessKey": "id", "secretKey": \#(file(folder.path + "/control"))"#),
                "auth.secretKey"
            ),
            (
                auth(
                    #""accessKey": "id", "secretKey": \#(file("/etc/hostname")), "sessionToken": "s3cret""#),
                "auth.sessionToken"
            ),
            (
                auth(#""accessKey": "id", "secretKey": \#(file("/etc/hostname")), "webIdentity": {}"#),
                "auth.webIdentity"
            ),
            (auth(#""container": {}, "instanceMetadata": {}"#), "auth.instanceMetadata"),
            (auth(#""webIdentity": {}"#), "auth.webIdentity.roleARN"),
            (auth(#""webIdentity": {"roleARN": "a"}"#), "auth.webIdentity.tokenFile"),
            (
                auth(#""webIdentity": {"roleARN": "a", "tokenFile": "/none"}"#),
                "auth.webIdentity.tokenFile"
            ),
            (
                auth(#""webIdentity": {"roleARN": "a", "tokenFile": "/etc/hostname", "endpoint": "x"}"#),
                "auth.webIdentity.endpoint"
            ),
            (auth(#""container": {}"#), "auth.container.url"),
            (auth(#""container": {"url": "http://10.0.0.1/"}"#), "auth.container.url"),
            (auth(#""instanceMetadata": {"endpoint": "ftp://a"}"#), "auth.instanceMetadata.endpoint"),
            (auth(#""service": "s3""#), "auth.accessKey"),
            (#"[{"match": "https://a.example/*", "auth": {"type": "awsSigV4"}}]"#, "auth.region"),
            (bucket(#""url": "s3://a/b""#), "bucket"), (bucket(#""url": "s3://photos/""#), "bucket"),
            (bucket(#""url": "s3://photos/", "endpoint": "x""#), "bucket"),
            (
                bucket(#""url": "s3://photos/", "endpoint": "http://10.0.0.1:9000", "pathStyle": false"#),
                "bucket"
            ),
            (#"[{"match": "https://a.example/*", "bucket": {"url": "gs://a/"}}]"#, "match"),
            (#"[{"match": "s3://photos/*"}]"#, "match"),
        ]
        for (json, key) in cases {
            let error = #expect(throws: OriginRuleError.self, "\(json)") { try rules(json) }
            #expect(error?.key == key, "\(json): \(error?.description ?? "")")
            #expect(error?.description.contains("s3cret") == false)
        }
    }

    @Test("is checked without the service's environment and files")
    func checking() throws {
        let json = #"""
            [{"bucket": {"url": "s3://photos/"}, "auth": {"type": "awsSigV4"}},
             {"bucket": {"url": "s3://b-b/"}, "auth": {"type": "awsSigV4", "webIdentity": {}}},
             {"bucket": {"url": "s3://c-c/"}, "auth": {"type": "awsSigV4", "container": {}}},
             {"match": "s3://photos/*"}]
            """#

        let rules = try rules(json, isChecking: true)

        for (index, bucket) in ["photos", "b-b", "c-c"].enumerated() {
            #expect(try rules.rule(for: rules.buckets.url("s3://\(bucket)/a"))?.index == index)
        }
        #expect(throws: OriginRuleError.self) { try self.rules(json) }
    }

    @Test("reads the keys of a platform's services from the environment")
    func services() throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("token".utf8), to: "token")
        let token = folder.path + "/token"
        let json = #"[{"match": "https://a.example/*", "auth": {"type": "awsSigV4", "region": "eu-west-1"}}]"#
        func source(_ variables: [String: String]) throws -> AWSKeySource? {
            try rules(json, variables).rule(for: SourceURL(parsing: "https://a.example/"))?.credentials
                .signature?
                .keys
        }

        #expect(
            try source(["AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::1:role/a"])
                == .webIdentity(
                    .init(
                        roleARN: "arn:aws:iam::1:role/a", token: .file(token), sessionName: "imageproxyd",
                        endpoint: SourceURL(parsing: "https://sts.eu-west-1.amazonaws.com/"))))
        #expect(
            try source(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/1"])
                == .container(
                    SourceURL(parsing: "http://169.254.170.2/v2/credentials/1"), authorization: nil))
        #expect(
            try source([
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token,
            ])
                == .container(
                    SourceURL(parsing: "http://169.254.170.23/v1/credentials"), authorization: .file(token)))
    }

    @Test("asks the metadata service only where it says so")
    func metadata() throws {
        let auth =
            #"[{"match": "https://a.example/*", "auth": {"type": "awsSigV4", "region": "r", "instanceMetadata": {}}}]"#
        func source(_ variables: [String: String]) throws -> AWSKeySource? {
            try rules(auth, variables).rule(for: SourceURL(parsing: "https://a.example/"))?.credentials
                .signature?
                .keys
        }

        #expect(try source([:]) == .instanceMetadata(SourceURL(parsing: "http://169.254.169.254/")))
        #expect(
            try source(["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://[fd00:ec2::254]"])
                == .instanceMetadata(SourceURL(parsing: "http://[fd00:ec2::254]/")))
        #expect(throws: OriginRuleError.self) { try source(["AWS_EC2_METADATA_DISABLED": "true"]) }
    }
}
