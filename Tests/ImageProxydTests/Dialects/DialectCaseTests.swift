// SPDX-License-Identifier: Apache-2.0

// Tests are built for debugging alone: a release has no `@testable`.
#if DEBUG

    import TestSupport
    import Testing

    @Suite("URLs of other proxies, as they answered them")
    struct DialectCaseTests {
        /// Cases whose answer differs on purpose: `docs/moving` says why.
        private static let deviations: [String: Set<String>] = [
            // A side half a pixel smaller, formats that are not written, a file that is no picture, a needless Vary.
            "imgproxy": ["imgproxy-082", "imgproxy-243", "imgproxy-244", "imgproxy-295", "imgproxy-472"],
            "thumbor": ["thumbor-282"], "imaginary": [], "weserv": ["weserv-228"], "cloudflare": [],
            "imgix": [],
            "nextjs": [],
        ]

        @Test("Each URL gets the picture that was recorded", arguments: deviations.keys.sorted())
        func cases(dialect: String) async throws {
            let origin = try DialectOrigin()
            let cases = try DialectCase.all(of: dialect)
            var differing: Set<String> = []
            for profile in Set(cases.map(\.profile)).sorted() {
                let folder = try TemporaryDirectory()
                let settings = try DialectProfile(
                    dialect: dialect, name: profile, origin: origin, folder: folder
                )
                .settings()
                let proxy = try await Proxy(
                    settings: settings, security: "\"allowUploads\": true", in: folder,
                    origin: origin.origin)
                for dialectCase in cases where dialectCase.profile == profile {
                    let answer = try await Self.answer(to: dialectCase, by: proxy, origin)
                    let differences = try DialectComparison(dialectCase, answer, origin).differences
                    guard !differences.isEmpty else { continue }
                    differing.insert(dialectCase.id)
                    let isMeant = Self.deviations[dialect]?.contains(dialectCase.id) == true
                    #expect(isMeant, "\(dialectCase.id) \(dialectCase.target(origin)): \(differences)")
                }
            }

            #expect(cases.count > 10)
            #expect(differing == Self.deviations[dialect])
        }

        private static func answer(
            to dialectCase: DialectCase, by proxy: Proxy, _ origin: DialectOrigin
        ) async throws -> RawHTTPClient.Answer {
            let (target, fields) = (dialectCase.target(origin), dialectCase.fields(origin))
            guard dialectCase.method != "GET" else { return try await proxy.get(target, lines: fields) }
            let content = dialectCase.body.map { DialectOrigin.source($0.file) } ?? []
            return try await proxy.send(content, dialectCase.method, to: target, fields)
        }
    }

#endif
