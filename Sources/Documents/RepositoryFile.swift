// SPDX-License-Identifier: Apache-2.0

/// A file of the repository that the site shows or links to.
package struct RepositoryFile: Sendable {
    /// Its path in the repository, such as `docs/moving/imgix.md`.
    package let path: String
    package let bytes: [UInt8]

    package init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }

    var isPage: Bool { path.hasSuffix(".md") }

    /// The title of a page, which is its first line.
    var title: String {
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return path == "README.md" ? "On one page" : String(line.drop { $0 == "#" || $0 == " " })
    }

    /// Where the site has it, relative to the site's root: pages end in `.html`, a folder's `README.md` is its
    /// `index.html`, and `docs/` is omitted.
    package var sitePath: String {
        var path = path.hasPrefix("docs/") ? String(path.dropFirst(5)) : path
        guard isPage else { return path }
        path = path.lowercased().replacing("_", with: "-")
        path.removeLast(3)
        if self.path == "README.md" { return "readme.html" }
        let folder = path.hasSuffix("/readme") || path == "readme" ? path.dropLast(6) + "index" : path[...]
        return folder + ".html"
    }

    /// The repository's path that a relative link in this file means; nil above the repository's root.
    func resolve(_ link: Substring) -> String? {
        var parts = path.split(separator: "/").dropLast()
        for part in link.split(separator: "/") {
            switch part {
            case ".": break
            case "..": if parts.popLast() == nil { return nil }
            default: parts.append(part)
            }
        }
        return parts.joined(separator: "/")
    }

    /// The relative link to another path of the site, from where the site has this file.
    func link(to other: String) -> String {
        String(repeating: "../", count: sitePath.utf8.count { $0 == UInt8(ascii: "/") }) + other
    }
}
