// SPDX-License-Identifier: Apache-2.0

package import Imaging
package import Primitives

/// The treatment of some origins' sources (SDWebImage's options processor and the hooks of its loader).
///
/// Configuration: a member of the list `origins`; the first rule that matches a source applies. An omitted
/// member has the same value as without a rule. Secrets are named here, never contained.
package struct OriginRuleConfiguration: SettingObject {
    package var match: [String] = []
    package var bucket: Bucket?
    package var options: [String] = []
    package var requestHeaders: [String: ConfiguredText] = [:]
    package var rewrite: Rewrite?
    package var auth: Auth?
    package var cookies = Cookies.ignore
    package var tls: TLS?
    package var responseContentType: [String] = []
    package var responseTTL: TTL?
    package var acceptStatus: [Int] = []
    package var cacheKey: CacheKeyFilter?
    package var decode = Decode.none
    package var reencode = false
    package var storeAs: ImageFormat?
    package var maxConcurrent: Int?
    package var loader = Loader.http
    package var root: String?

    /// The treatment of a client's cookies.
    package enum Cookies: String, SettingValue, CaseIterable {
        case ignore, forward
    }

    /// A coding of bodies.
    package enum Decode: String, SettingValue, CaseIterable {
        case none, base64
    }

    /// A loader.
    package enum Loader: String, SettingValue, CaseIterable {
        case http, file
    }

    /// Creates a rule that matches nothing yet.
    package init() {}

    package static let settings = SettingTable<Self>(
        "A rule for the sources of some origins."
    ) {
        Setting(
            "match", \.match.texts,
            """
            Patterns, one or a list: `scheme://host[:port]/path`. `*` stands for any run of characters; a `*` in the host
            stays in the host. Matching never backtracks beyond the last `*`. See [how patterns are
            compared](#how-patterns-are-compared)
            """)
        Setting(
            "bucket", \.bucket,
            """
            in place of `match`: `{"url": "s3://name/", "region": "…", "endpoint": "https://…", "pathStyle": true}`, a bucket
            of an object store, whose objects are then sources, as `s3://name/key` or `gs://name/key`. See
            [object stores](object-stores.md)
            """)
        Setting("options", \.options.texts, "names of options that every request for these sources gets")
        Setting(
            "requestHeaders", \.requestHeaders,
            """
            fields for the origin: `"name": "text"`, `{"file": "/path"}` or `{"credential": "name"}` (below
            `$CREDENTIALS_DIRECTORY`, systemd's `LoadCredential`)
            """)
        Setting(
            "rewrite", \.rewrite,
            """
            `from` and `to`, both ending in a slash. A source URL that begins with `from` is fetched from the URL that
            begins with `to` instead. Cache keys use the source's own URL. Redirects may stay below `to`
            """)
        Setting(
            "auth", \.auth,
            """
            `{"type": "basic", "user": "…", "password": S}`, `{"type": "bearer", "token": S}` or `{"type": "awsSigV4",
            "region": "…", "service": "s3", "accessKey": …, "secretKey": S, "sessionToken": S}`, where S is a file or a
            credential, never text; instead of keys, `webIdentity`, `container` or `instanceMetadata` says [where AWS has
            them](object-stores.md#where-keys-come-from). libcurl signs; the request uses the URL in the form that AWS signs
            (the same resource). Services other than `s3` encode paths twice, so their paths may contain only unreserved
            characters
            """)
        Setting(
            "cookies", \.cookies,
            """
            `ignore`, or `forward`: the client's `Cookie` is sent to the origin, and the answer goes to that client alone:
            `private`, no shared fetch, no cache tier, no remembered failure
            """)
        Setting(
            "tls", \.tls,
            """
            `{"insecure": true}` accepts any certificate; `{"ca": "/file.pem"}` trusts these certificates (PEM) and no others
            """)
        Setting(
            "responseContentType", \.responseContentType.texts,
            """
            media types (`image/*`) of which the response must have one; otherwise 415 (SDWebImage:
            acceptableContentTypes). The bytes alone decide which format is served
            """)
        Setting(
            "responseTTL", \.responseTTL,
            """
            `{"minimum": …, "maximum": …}` bounds the origin's freshness lifetime; `{"override": …}` replaces it, also that
            of a `no-cache` response. Browsers and caches downstream get the same lifetime. `no-store` and `private` still
            apply
            """)
        Setting(
            "acceptStatus", \.acceptStatus,
            """
            status codes whose body is the image, in place of 200 and 203 (SDWebImage: acceptableStatusCodes)
            """)
        Setting(
            "cacheKey", \.cacheKey,
            """
            `{"dropQuery": […]}` names query parameters that do not distinguish sources (SDWebImage: cacheKeyFilter); a `*`
            at the end matches any rest, and `["*"]` matches all parameters. The first request's parameters fetch the
            picture for all, so drop a signature only where every client may see what one may see. A refusal is remembered
            for the whole URL, and fetches are shared by requests for the whole URL; a 404 or 410 removes no copies
            """)
        Setting(
            "decode", \.decode,
            "`base64`: bodies are base64 text of the picture (SDWebImage: downloaderDecryptor)")
        Setting(
            "reencode", \.reencode,
            """
            `true`: originals are never sent as they came; without a transform they are encoded again in their own format,
            with no metadata but creator and copyright
            """)
        Setting(
            "storeAs", \.storeAs.written,
            """
            the format that originals are converted to after the fetch (SDWebImage: cacheSerializer); the converted picture
            is the original from then on. An original that is stored in another format is fetched again. `formats.decode`
            must name it
            """)
        Setting(
            "maxConcurrent", \.maxConcurrent,
            "concurrent fetches for all sources of the rule together, in addition to `fetch.maxPerHost`")
        Setting("loader", \.loader, "`http`, or `file`, which serves the files below the folder `root`")
        Setting(
            "root", \.root,
            """
            the folder of the loader `file`: the URL's path, decoded once, is the file's path. The kernel confines it to
            `root` and follows no link (Linux 5.6 or newer)
            """)
    }
}

extension OriginRuleConfiguration {
    /// A bucket of an object store.
    package struct Bucket: SettingObject {
        package var url = ""
        package var region: String?
        package var endpoint: String?
        package var pathStyle: Bool?

        /// Creates a bucket without a name, which is invalid.
        package init() {}

        package static let settings = SettingTable<Self>("A bucket of an object store.") {
            Setting(
                "url", \.url, isRequired: true, "`s3://name/` or `gs://name/`; `*` is any name.")
            Setting("region", \.region, "The region of an S3 store.")
            Setting("endpoint", \.endpoint, "The URL of the store.")
            Setting("pathStyle", \.pathStyle, "Whether the bucket is a folder, and not a part of the host.")
        }
    }

    /// Replaces a prefix of the URL by another for the fetch.
    package struct Rewrite: SettingObject {
        package var from: String
        package var to: String

        package static let settings = SettingTable<Self>("A prefix in place of another.") {
            Setting("from", \.from, isRequired: true, "The prefix of the normalized URL; ends in a slash.")
            Setting("to", \.to, isRequired: true, "The replacement: an absolute URL that ends in a slash.")
        }
    }

    /// How a certificate is verified.
    package struct TLS: SettingObject {
        package var insecure = false
        package var ca: String?

        /// Creates the defaults.
        package init() {}

        package static let settings = SettingTable<Self>("How a certificate is verified.") {
            Setting("insecure", \.insecure, "Whether any certificate is accepted.")
            Setting(
                "ca", \.ca, "A file with the certificates (PEM) that are trusted in place of the system's.")
        }
    }

    /// Freshness lifetimes in place of the origin's; `no-store` and `private` still apply.
    package struct TTL: SettingObject {
        package var minimum: TimeSpan?
        package var maximum: TimeSpan?
        package var override: TimeSpan?

        /// Creates bounds that change nothing.
        package init() {}

        package static let settings = SettingTable<Self>(
            "Lifetimes in place of the origin's."
        ) {
            Setting("minimum", \.minimum, "The minimum.")
            Setting("maximum", \.maximum, "The maximum.")
            Setting("override", \.override, "The exact lifetime, also for `no-cache`.")
        }
    }

    /// The parts of a URL that don't distinguish sources.
    package struct CacheKeyFilter: SettingObject {
        package var dropQuery: [String] = []

        /// Creates a filter that drops nothing.
        package init() {}

        package static let settings = SettingTable<Self>("What does not distinguish sources.", reload: .takes)
        {
            Setting(
                "dropQuery", \.dropQuery.texts, "Names of query parameters; `*` at the end matches any rest.")
        }
    }
}

extension OriginRuleConfiguration.Rewrite {
    /// Creates a rewrite without prefixes, which is invalid.
    package init() { self.init(from: "", to: "") }
}
