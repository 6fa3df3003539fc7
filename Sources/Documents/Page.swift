// SPDX-License-Identifier: Apache-2.0

/// A Markdown file, parsed: its title, its sections with their anchors, and its parts as HTML.
struct Page: Sendable {
    /// A part of a page below a heading.
    struct Section: Sendable {
        var level: Int
        var title: String
        /// The anchor of its heading, as forges make it.
        var anchor: String
        /// The text below the heading, for the search.
        var text: String
    }

    let file: RepositoryFile
    private(set) var sections: [Section] = []
    /// What is between header and footer.
    private(set) var html = ""
    /// The targets of links that are not on the site: paths of the repository.
    private(set) var repositoryLinks: [String] = []
    /// Links to others pages' anchors, which are checked once all pages are known: path and anchor.
    private(set) var anchorLinks: [(path: String, anchor: String)] = []

    /// Parses a page.
    /// - Parameter files: every file of the site by its path in the repository.
    init(_ file: RepositoryFile, among files: [String: RepositoryFile]) {
        self.file = file
        let tree = MarkdownTree(file.bytes)
        for link in tree.root.nodes(["link", "image"]) { rewrite(link, files) }
        var anchors: [String: Int] = [:]
        for block in tree.root.children {
            switch block.type {
            case "heading": addHeading(block, &anchors)
            case "code_block": add(block, html: "<div class=\"code\">\n\(block.html)</div>\n")
            case "html_block": break
            default: add(block, html: withRegions(block.html))
            }
        }
    }

    private mutating func add(_ block: MarkdownNode, html text: String) {
        html += text
        guard !sections.isEmpty else { return }
        sections[sections.count - 1].text += " " + block.text
    }

    private mutating func addHeading(_ heading: MarkdownNode, _ anchors: inout [String: Int]) {
        let title = heading.text
        let level = heading.level
        var anchor = Self.anchor(of: title)
        let earlier = anchors[anchor, default: 0]
        anchors[anchor] = earlier + 1
        if earlier > 0 { anchor += "-\(earlier)" }
        sections.append(Section(level: level, title: title, anchor: anchor, text: ""))
        let inner = heading.children.map(\.html).joined()
        let link = " <a class=\"anchor\" href=\"#\(anchor)\" aria-label=\"Link to this section\">#</a>"
        let mark = level == 1 ? "" : link
        html += "<h\(level) id=\"\(anchor)\">\(inner)\(mark)</h\(level)>\n"
    }

    /// HTML whose tables, also those in lists, can be scrolled by keyboard.
    private func withRegions(_ html: String) -> String {
        let name = HTML.escaped(sections.last?.title ?? "Table")
        let start = "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"\(name)\">\n<table>"
        // Text has no such tags: it is escaped, and raw HTML is omitted.
        return html.replacing("<table>", with: start).replacing("</table>", with: "</table></div>")
    }

    /// The anchor that forges give a heading: small letters, spaces as hyphens, without punctuation.
    static func anchor(of title: String) -> String {
        String(
            title.lowercased().compactMap { character -> Character? in
                if character == " " { return "-" }
                return character.isLetter || character.isNumber || character == "-" || character == "_"
                    ? character : nil
            })
    }

    /// Replaces a link into the repository by one into the site; one to a file that the site lacks becomes text.
    private mutating func rewrite(_ link: MarkdownNode, _ files: [String: RepositoryFile]) {
        let url = link.url
        guard !url.contains(":") else { return }
        let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let anchor = parts.count > 1 ? String(parts[1]) : ""
        let path = parts.first?.isEmpty != false ? file.path : file.resolve(parts[0])
        guard let path else { return repositoryLinks.append(url) }
        guard let target = files[path] ?? files[path + "/README.md"] else {
            repositoryLinks.append(path)
            return link.unwrap()
        }
        // The name of a file says less than a title does.
        if target.isPage, link.text.hasSuffix(".md") { link.setText(target.title) }
        if !anchor.isEmpty { anchorLinks.append((target.path, anchor)) }
        let suffix = anchor.isEmpty ? "" : "#" + anchor
        let isHere = target.path == file.path && !suffix.isEmpty
        link.setURL(isHere ? suffix : file.link(to: target.sitePath) + suffix)
    }
}

/// Text in HTML.
enum HTML {
    /// A text as content or as the value of an attribute.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
