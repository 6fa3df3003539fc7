// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// The documentation as a static site: every page with navigation, contents and search, and the files that pages
/// link to.
package struct Site: Sendable {
    /// The files of the site by their paths, relative to its root.
    package private(set) var files: [String: [UInt8]] = [:]
    /// Links that lead nowhere: to an anchor that no heading has, or out of the repository.
    package private(set) var deadLinks: [String] = []
    /// Paths of the repository that pages link to and the site does not have; they are shown as text.
    package private(set) var repositoryLinks: Set<String> = []

    /// Renders the site; takes some tens of milliseconds.
    /// - Parameters:
    ///   - sources: the files of the repository, one of them `docs/README.md`.
    ///   - assets: style and script.
    ///   - home: the link from the site's root to the playground; nil if there is none.
    package init(_ sources: [RepositoryFile], assets: [RepositoryFile], home: String?) {
        let byPath = Dictionary(uniqueKeysWithValues: sources.map { ($0.path, $0) })
        guard let overview = byPath["docs/README.md"] else { return }
        let navigation = Navigation(overview, among: byPath)
        let pages = sources.filter(\.isPage).map { Page($0, among: byPath) }
        let template = PageTemplate(navigation: navigation, overview: overview, files: byPath, home: home)
        for page in pages { files[page.file.sitePath] = Array(template.html(of: page).utf8) }
        for file in sources where !file.isPage { files[file.sitePath] = file.bytes }
        for asset in assets { files[asset.path] = asset.bytes }
        files["search.js"] = SearchIndex(pages, in: navigation).script
        check(pages)
    }

    private mutating func check(_ pages: [Page]) {
        let anchors = Dictionary(
            uniqueKeysWithValues: pages.map { ($0.file.path, Set($0.sections.map(\.anchor))) })
        for page in pages {
            for link in page.anchorLinks where anchors[link.path]?.contains(link.anchor) != true {
                deadLinks.append("\(page.file.path): \(link.path)#\(link.anchor)")
            }
            repositoryLinks.formUnion(page.repositoryLinks)
        }
    }
}
