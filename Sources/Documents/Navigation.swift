// SPDX-License-Identifier: Apache-2.0

/// The order of the pages: by what a reader wants to do, as the tables of `docs/README.md` say.
struct Navigation: Sendable {
    /// A section of `docs/README.md` with the pages that its table links to first.
    struct Group: Sendable {
        var title: String
        var paths: [String]
    }

    private(set) var groups: [Group] = []
    /// The paths of all pages, each once.
    var order: [String] { groups.flatMap(\.paths) }

    /// Reads the tables: the first link of each row that leads to a page not named before.
    init(_ overview: RepositoryFile, among files: [String: RepositoryFile]) {
        var known: Set = [overview.path]
        let tree = MarkdownTree(overview.bytes)
        for block in tree.root.children {
            switch block.type {
            case "heading" where block.level > 1:
                groups.append(Group(title: block.text, paths: []))
            case "table" where !groups.isEmpty:
                for link in block.nodes(["link"]) {
                    let path = link.url.split(separator: "#").first.flatMap(overview.resolve)
                    guard let path, let file = files[path] ?? files[path + "/README.md"], file.isPage,
                        known.insert(file.path).inserted
                    else { continue }
                    groups[groups.count - 1].paths.append(file.path)
                }
            default: break
            }
        }
    }
}
