// SPDX-License-Identifier: Apache-2.0

// Tests are built for debugging alone: a release has no `@testable`.
#if DEBUG

    import Dialects
    import Documents
    import TestSupport
    import Testing

    @testable import ImageProxyd

    @Suite("URLs of other proxies, as they answered them")
    struct DialectCaseTests {
        /// Cases whose answer differs on purpose, by dialect: `docs/moving` says why.
        private static let deviations: [String: Set<String>] = [
            // A side half a pixel smaller, formats that are not written, a file that is no picture, a needless Vary.
            // Bounds of a URL on its source are refused as such: those of the settings hold.
            "imgproxy": [
                "imgproxy-082", "imgproxy-243", "imgproxy-244", "imgproxy-295", "imgproxy-419",
                "imgproxy-421",
                "imgproxy-472",
            ],
            "thumbor": ["thumbor-282"], "weserv": ["weserv-228"],
        ]

        @Test("Each URL gets the picture that was recorded", arguments: DialectRegistry.names)
        func cases(dialect: String) async throws {
            let deviations = Self.deviations[dialect] ?? []
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
                    #expect(
                        deviations.contains(dialectCase.id),
                        "\(dialectCase.id) \(dialectCase.target(origin)): \(differences)")
                }
            }

            #expect(cases.count > 10)
            #expect(differing == deviations)
        }

        @Test("Each dialect has a page of its name on moving", arguments: DialectRegistry.names)
        func page(dialect: String) {
            #expect(DocumentPages.documents.contains { $0.path == "docs/moving/\(dialect).md" })
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
