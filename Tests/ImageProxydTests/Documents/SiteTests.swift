// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Documents
@testable import Answering
@testable import ImageProxyd

@Suite("The documentation as a site")
struct SiteTests {
    private static let site = DocumentPages.site(home: "../playground")

    private static func page(_ path: String) throws -> String {
        String(decoding: try #require(site.files[path]), as: UTF8.self)
    }

    @Test("Every page of docs is in the program, and docs/README.md leads to each")
    func listed() throws {
        let root = TextFiles.path("docs")
        let found = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        let pages = found.filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }
        let known = Set(DocumentPages.documents.map(\.path))

        #expect(pages.count > 30)
        for page in pages { #expect(known.contains(page), "\(page): see Sources/WebAssets/documents.c") }
        let files = Dictionary(uniqueKeysWithValues: DocumentPages.documents.map { ($0.path, $0) })
        let overview = try #require(files["docs/README.md"])
        let listed = Set(Navigation(overview, among: files).order + [overview.path])
        let unlisted = DocumentPages.documents.filter(\.isPage).map(\.path).filter { !listed.contains($0) }
        #expect(unlisted.filter { $0 != "demo/photos/README.md" } == [])
    }

    @Test("No link leads to a page, an anchor or a file that is not there")
    func links() {
        #expect(Self.site.deadLinks == [])
        for path in Self.site.repositoryLinks {
            #expect(FileManager.default.fileExists(atPath: TextFiles.path(path)), "\(path)")
        }
    }

    @Test("Every link of the rendered pages leads to a file of the site, or to another server")
    func renderedLinks() throws {
        var count = 0
        for (path, bytes) in Self.site.files where path.hasSuffix(".html") {
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            let base = try #require(URL(string: "http://site/\(folder.isEmpty ? "" : folder + "/")"))
            for match in String(decoding: bytes, as: UTF8.self).matches(of: /(?:href|src)="([^"#]+)/) {
                let link = String(match.1)
                guard !link.contains("://"), !link.hasSuffix("../playground") else { continue }
                count += 1
                let target = try #require(URL(string: link, relativeTo: base)).path.dropFirst()
                #expect(Self.site.files[String(target)] != nil, "\(path): \(link)")
            }
        }
        #expect(count > 1_000)
    }

    @Test("Anchors are those of forges: small letters, hyphens for spaces, a number for a second one")
    func anchors() {
        let anchor = Page.anchor(of: "When a *thing* fails: `http.maxBytes`, again?")
        #expect(anchor == "when-a-thing-fails-httpmaxbytes-again")

        let text = "# A\n\n## Same\n\n## Same\n"
        let page = Page(RepositoryFile(path: "docs/a.md", bytes: Array(text.utf8)), among: [:])

        #expect(page.sections.map(\.anchor) == ["a", "same", "same-1"])
    }

    @Test("Text of a page is escaped, raw HTML is omitted, and a link to a file that the site lacks is text")
    func rendering() {
        let text = "# A & B\n\n<script>alert(1)</script>\n\n`<b>` and [the code](../Sources/Main.swift).\n"
        let file = RepositoryFile(path: "docs/a.md", bytes: Array(text.utf8))
        let page = Page(file, among: [file.path: file])

        #expect(!page.html.contains("<script>") && !page.html.contains("href=\"../"))
        #expect(page.html.contains("<code>&lt;b&gt;</code> and the code."))
        #expect(page.repositoryLinks == ["Sources/Main.swift"])
    }

    @Test("Pages name each other, their neighbours and their sections, and say which one they are")
    func template() throws {
        let page = try Self.page("caching.html")

        #expect(page.contains("<a href=\"operating.html\">Operating it</a>"))
        #expect(page.contains("<a href=\"caching.html\" aria-current=\"page\">How pictures are cached</a>"))
        #expect(page.contains("<a href=\"#purging\">Purging</a>"))
        #expect(page.contains("<h2 id=\"purging\">Purging <a class=\"anchor\" href=\"#purging\""))
        #expect(page.contains("<a rel=\"prev\"") && page.contains("<a rel=\"next\""))
        #expect(try Self.page("moving/imgix.html").contains("<link rel=\"stylesheet\" href=\"../docs.css\">"))
    }

    @Test("The pages of a folder are in the list of pages while one of them is read")
    func chapters() throws {
        let outside = try Self.page("caching.html")
        let inside = try Self.page("runbooks/restarts.html")

        #expect(outside.contains("<a href=\"runbooks/index.html\">Runbooks</a>"))
        #expect(!outside.contains("<a href=\"runbooks/restarts.html\">"))
        #expect(outside.contains("<a href=\"recipes/nextjs.html\">"))
        #expect(inside.contains(">Imageproxyd<wbr>No<wbr>Workers</a>"))
        #expect(inside.contains("<a href=\"../runbooks/restarts.html\" aria-current=\"page\">"))
        #expect(inside.contains("<a href=\"../moving/index.html\">"))
        #expect(!inside.contains("../moving/imgix.html"))
    }

    @Test("The search knows settings, metrics and error codes by their sections")
    func search() throws {
        let index = try Self.page("search.js")

        for word in ["cache.memory.maxbytes", "imageproxyd_cache_held_bytes", "too_many_pixels"] {
            #expect(index.lowercased().contains(word), "\(word)")
        }
        #expect(index.utf8.count < 400_000)
    }

    @Test("imageproxyd docs writes the site into a folder")
    func command() async throws {
        let folder = try TemporaryDirectory()

        let outcome = try await OtherProgram.run(DaemonProcess.executable, ["docs", folder.path + "/a/b"])

        #expect(outcome.code == 0 && outcome.output == "\(folder.path)/a/b/index.html\n", "\(outcome.errors)")
        #expect(folder.files.count == Self.site.files.count)
        let refused = try await OtherProgram.run(DaemonProcess.executable, ["docs", "/proc/docs"])
        #expect(
            refused.code == 1 && refused.errors.hasPrefix("/proc/docs can't be made: "), "\(refused.errors)")
    }
}
