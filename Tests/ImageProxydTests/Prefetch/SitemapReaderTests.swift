// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Reading sitemaps")
struct SitemapReaderTests {
    private static func entries(_ pieces: [[UInt8]]) throws -> [SitemapReader.Entry] {
        var reader = SitemapReader()
        var entries: [SitemapReader.Entry] = []
        for piece in pieces { try reader.read(piece) { entries.append($0) } }
        try reader.finish()
        return entries
    }

    private static func entries(_ text: String) throws -> [SitemapReader.Entry] {
        try entries([Array(text.utf8)])
    }

    private static func problem(_ text: String) -> String? {
        do {
            _ = try entries(text)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static let map = """
        \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
        <!-- <url><loc>https://a.example/no</loc></url> -- > -->
        <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
            xmlns:image='http://www.google.com/schemas/sitemap-image/1.1' x="a>b">
          <url>
            <loc> https://a.example/page?a=1&amp;b=2&amp;lt; </loc><lastmod>2026-01-01</lastmod>
            <image:image><image:loc><![CDATA[https://a.example/1.jpg?x=1&y=2;]]></image:loc></image:image>
            <image:image><image:loc>https://a.example/&#x41;&#66;.jpg</image:loc><image:title>a < is</image:title></image:image>
          </url>
          <url><loc/></url>
        </urlset>
        """
        .replacing("a < is", with: "a &lt; is")

    private static let found: [SitemapReader.Entry] = [
        .page("https://a.example/page?a=1&b=2&lt;"), .image("https://a.example/1.jpg?x=1&y=2;"),
        .image("https://a.example/AB.jpg"),
    ]

    @Test("Pages and images are found, with CDATA, comments and references, wherever the pieces are split")
    func map() throws {
        let bytes = Array(Self.map.utf8)
        #expect(try Self.entries([bytes]) == Self.found)
        for split in bytes.indices {
            #expect(
                try Self.entries([Array(bytes[..<split]), Array(bytes[split...])]) == Self.found, "\(split)")
        }
        #expect(try Self.entries(bytes.map { [$0] }) == Self.found)
    }

    @Test("An index names sitemaps")
    func index() throws {
        let text = "<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>"
        #expect(try Self.entries(text) == [.sitemap("https://a.example/1.xml")])
    }

    @Test(
        "What could expand, grow or mislead is refused, with the line",
        arguments: [
            ("<!DOCTYPE x [<!ENTITY a \"aaaa\">]>\n<urlset/>", "line 1: a document type is not accepted"),
            ("\n<urlset><url><loc>&a;</loc></url></urlset>", "line 2: '&a;' is no reference"),
            ("<urlset><url><loc>&#0;</loc></url></urlset>", "is no reference"),
            ("<html></html>", "it is no sitemap: its element is <html>"), ("hello", "it is no XML"),
            ("", "it is no XML"),
            ("<urlset>" + String(repeating: "<a>", count: 100_000), "nested deeper than 16"),
            ("<urlset><url><loc>" + String(repeating: "x", count: 100_000), "a URL has more than 8192 bytes"),
            ("<urlset " + String(repeating: "x", count: 100_000), "a tag has more than 16384 bytes"),
            ("<urlset><url></urlset>", "</urlset> where </url> is expected"),
            ("<urlset><url>", "it ends within <url>"), ("<urlset/><urlset/>", "something follows the end"),
            ("<urlset>text</urlset><", "it ends within a tag"), ("</a>", "</a> where nothing is expected"),
        ])
    func refusals(text: String, reason: String) {
        #expect(Self.problem(text)?.contains(reason) == true, "\(Self.problem(text) ?? "none")")
    }

    @Test("Sitemaps are read once each, of one host, and not for ever deeper")
    func walk() {
        var walk = SitemapWalk(start: "https://a.example/index.xml")
        var read: [String] = []
        while let url = walk.takeNext() {
            read.append(url)
            walk.add("https://a.example/index.xml")
            walk.add("https://b.example/1.xml")
            walk.add(url + "/deeper")
        }

        #expect(
            read.count == 1 + SitemapWalk.maxDepth && walk.skipped["on another host"] == SitemapWalk.maxDepth)
        #expect(walk.skipped.keys.contains { $0.contains("nested deeper") })
        var wide = SitemapWalk(start: nil)
        for number in 0..<5_000 { wide.add("https://a.example/\(number).xml") }
        #expect(wide.skipped == ["more than 1000 sitemaps": 4_000])
    }

    @Test("Only pages that are pictures by their names are taken", arguments: ["/a.JPG?x=1", "/b.webp#c"])
    func pictures(path: String) {
        #expect(PrefetchInput.isPicture("https://a.example" + path))
        #expect(!PrefetchInput.isPicture("https://a.example/index.html?a.jpg"))
    }
}
