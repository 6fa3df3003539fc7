// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

/// The snippets of docs/clients, each against a daemon.
@Suite("Snippets for pages and apps")
struct ClientSnippetTests {
    private static func proxy() async throws -> Proxy {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo))
        return proxy
    }

    private static func node(_ script: String) async throws -> OtherProgram.Outcome {
        guard let node = OtherProgram.path(of: "node") else {
            try Test.cancel("node is not installed: the scripts of docs/clients are not tested")
        }
        return try await OtherProgram.run(node, ["--input-type=module", "--eval", script])
    }

    /// The width of the picture at a URL of the proxy, written as PNG.
    private static func width(_ url: Substring, _ base: String, of proxy: Proxy) async throws -> Int? {
        #expect(url.hasPrefix(base))
        let target = String(url.dropFirst(base.count))
        return try await proxy.get(target + (target.contains("&format=") ? "" : "&format=png")).pngSize?.first
    }

    private static let base = "http://proxy.example"

    @Test("The URLs of the HTML are as wide as they say")
    func html() async throws {
        let proxy = try await Self.proxy()
        let example = "https%3A%2F%2Fexample.org%2Fcat.jpg"
        let own = proxy.target("/photo.jpg").replacing("/img?url=", with: "")

        let html = TextFiles.read("docs/clients/image.html").replacing("&amp;", with: "&")
        let urls = html.matches(of: #/(\/img\?\S*?) (\d+)w/#)

        #expect(urls.count == 3)
        for url in urls {
            let target = url.output.1.replacing(example, with: own)
            let width = try #require(Int(url.output.2))
            // The photo is not enlarged.
            #expect(try await proxy.get(target + "&format=png").pngSize?.first == min(width, 1_200))
        }
    }

    @Test("The tag that is made from /srcset has its URLs, its size and its placeholder, escaped")
    func tag() async throws {
        let proxy = try await Self.proxy()
        let answer = try await proxy.get(
            proxy.target("/photo.jpg", "widths=320,640&format=png").replacing("/img?", with: "/srcset?"))
        let path = TextFiles.path("docs/clients/img-tag.mjs")

        let outcome = try await Self.node(
            """
            const { imgTag } = await import("file://\(path)");
            console.log(imgTag(\(answer.text), 'A "cat" & <dog>', "\(Self.base)"));
            """)
        let tag = outcome.output.replacing("&amp;", with: "&")
        let urls = try #require(tag.firstMatch(of: #/srcset="([^"]*)"/#)?.output.1).split(separator: ", ")

        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(tag.hasPrefix("<img ") && tag.contains(#"width="1200" height="800""#))
        #expect(
            tag.contains(#"alt="A &quot;cat&quot; & &lt;dog>""#)
                && tag.contains("url(data:image/webp;base64,"))
        #expect(urls.count == 2)
        for url in urls {
            let parts = url.split(separator: " ")
            #expect(try await Self.width(parts[0], Self.base, of: proxy) == Int(parts[1].dropLast()))
        }
    }

    @Test("The loader of Next.js and the provider of Nuxt make URLs that the daemon answers")
    func frameworks() async throws {
        let proxy = try await Self.proxy()
        let source = proxy.origin.url("/photo.jpg")
        let folder = TextFiles.path("docs/clients")

        let outcome = try await Self.node(
            """
            process.env.NEXT_PUBLIC_IMAGE_PROXY = "\(Self.base)";
            const { default: loader } = await import("file://\(folder)/next-loader.mjs");
            const { getImage } = await import("file://\(folder)/nuxt-provider.mjs");
            const baseURL = "\(Self.base)";
            console.log(loader({ src: "\(source)", width: 384 }));
            console.log(loader({ src: "\(source)", width: 384, quality: 60 }));
            for (const fit of [undefined, "cover", "contain", "fill", "inside", "outside"])
              console.log(getImage("\(source)", { baseURL, modifiers: { width: 90, height: 60, fit, format: "png" } }).url);
            console.log(getImage("\(source)", { baseURL, modifiers: { width: 90 } }).url);
            """)
        let urls = outcome.output.split(separator: "\n")

        #expect(outcome.code == 0 && urls.count == 9, "\(outcome.errors)")
        #expect(try await Self.width(urls[0], Self.base, of: proxy) == 384)
        #expect(try await proxy.get(String(urls[1].dropFirst(Self.base.count))).status == 200)
        for url in urls[2...] { #expect(try await Self.width(url, Self.base, of: proxy) == 90, "\(url)") }
    }

    @Test(
        "The Swift of each library compiles against what it uses of that, and makes URLs that the daemon answers"
    )
    func swift() async throws {
        let folder = try TemporaryDirectory()
        let compiler = try #require(
            OtherProgram.path(of: "swiftc") ?? Self.compilerPath, "swiftc is where swift is that builds this")
        let stand = TextFiles.path("Tests/Fixtures/Clients")
        let environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "TMPDIR": folder.path]
        let modules = ["SwiftUI", "Nuke", "Kingfisher", "SDWebImage"]
        for module in modules {
            let outcome = try await OtherProgram.run(
                compiler,
                [
                    "-emit-module", "-emit-object", "-parse-as-library", "-module-name", module,
                    "-emit-module-path", "\(folder.path)/\(module).swiftmodule", "-o",
                    "\(folder.path)/\(module).o",
                    "\(stand)/\(module).swift",
                ], environment: environment)
            try #require(outcome.code == 0, "\(module): \(outcome.errors)")
        }
        let sources = ["ImageProxy"] + modules.map { "\($0)Image" }
        let program = try await OtherProgram.run(
            compiler,
            ["-swift-version", "6", "-I", folder.path, "-o", folder.path + "/clients", stand + "/main.swift"]
                + sources.map { TextFiles.path("docs/clients/\($0).swift") }
                + modules.map { "\(folder.path)/\($0).o" }, environment: environment)
        try #require(program.code == 0, "\(program.errors)")
        let proxy = try await Self.proxy()

        let outcome = try await OtherProgram.run(
            folder.path + "/clients", [Self.base, proxy.origin.url("/photo.jpg")], environment: environment)
        let urls = outcome.output.split(separator: "\n")

        #expect(outcome.code == 0 && urls.count == 5, "\(outcome.output) \(outcome.errors)")
        for url in urls { #expect(try await Self.width(url, Self.base, of: proxy) == 20, "\(url)") }
        #expect(urls.count == 5 && urls[3] == urls[4])
    }

    /// The compiler of the toolchain whose runtime runs the tests.
    private static var compilerPath: String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(
            String.init)
        return folders.map { $0 + "/swiftc" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
