// SPDX-License-Identifier: Apache-2.0

/// Puts a page between the site's header, navigation and footer.
struct PageTemplate {
    let navigation: Navigation
    let overview: RepositoryFile
    let files: [String: RepositoryFile]
    let home: String?

    /// The whole page.
    func html(of page: Page) -> String {
        let root = page.file.link(to: "")
        let title = HTML.escaped(page.file.title)
        return """
            <!doctype html>
            <html lang="en" data-root="\(root)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)\(page.file.path == overview.path ? "" : " – imageproxyd")</title>
            <link rel="icon" href="\(root)icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="\(root)docs.css">
            <script src="\(root)docs.js" defer></script>
            </head>
            <body>
            <a class="skip" href="#content">Skip to the text</a>
            <header>
            <a class="brand" href="\(root)index.html"><img src="\(root)icon.svg" alt=""><span>imageproxyd</span></a>
            <search hidden>
            <label class="hidden" for="query">Search the documentation</label>
            <input id="query" type="search" placeholder="Search" autocomplete="off" spellcheck="false" \
            aria-keyshortcuts="/" aria-controls="results">
            <div id="results" hidden><p role="status"></p><ol></ol></div>
            </search>
            \(home.map { "<a class=\"home\" href=\"\(root)\($0)\">Playground</a>" } ?? "")
            </header>
            <div class="columns">
            \(sidebar(page))
            <main id="content" tabindex="-1">
            \(contents(page))
            <article>
            \(page.html)</article>
            \(neighbours(page))
            </main>
            </div>
            </body>
            </html>

            """
    }

    private func link(_ path: String, from page: Page) -> String {
        page.file.link(to: files[path]?.sitePath ?? "")
    }

    private func title(_ path: String) -> String { HTML.escaped(files[path]?.title ?? path) }

    /// The title, which may be broken where a word of several has a capital letter.
    private func breakable(_ path: String) -> String {
        title(path).replacing(/([a-z])([A-Z])/) { "\($0.1)<wbr>\($0.2)" }
    }

    private func sidebar(_ page: Page) -> String {
        let groups = navigation.groups.filter { !$0.paths.isEmpty }.map { group in
            let items = group.paths.map { path in
                let chapter = chapter(of: path, in: group)
                guard chapter == nil || page.file.path.hasPrefix(chapter ?? "") else { return "" }
                let inner = chapter == nil ? "" : " class=\"inner\""
                let current = path == page.file.path ? " aria-current=\"page\"" : ""
                return
                    "<li\(inner)><a href=\"\(link(path, from: page))\"\(current)>\(breakable(path))</a></li>\n"
            }
            return "<h2>\(HTML.escaped(group.title))</h2>\n<ul>\n\(items.joined())</ul>\n"
        }
        return """
            <nav class="pages" aria-label="Pages">
            <details open>
            <summary>All pages</summary>
            \(groups.joined())</details>
            </nav>
            """
    }

    /// The folder of a page that its overview, a page before it in the group but not the first, leads to: such pages are
    /// shown while one of the folder is read.
    private func chapter(of path: String, in group: Navigation.Group) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let folder = String(path[...slash])
        let overview = folder + "README.md"
        return path != overview && group.paths.dropFirst().contains(overview) ? folder : nil
    }

    /// The sections of a page, where there are some to choose from.
    private func contents(_ page: Page) -> String {
        let sections = page.sections.filter { $0.level == 2 || $0.level == 3 }
        guard sections.count > 1 else { return "" }
        let items = sections.map { section in
            "<li class=\"level\(section.level)\"><a href=\"#\(section.anchor)\">\(HTML.escaped(section.title))</a></li>\n"
        }
        return """
            <nav class="contents" aria-label="On this page">
            <details open>
            <summary>On this page</summary>
            <ul>
            \(items.joined())</ul>
            </details>
            </nav>
            """
    }

    private func neighbours(_ page: Page) -> String {
        let order = [overview.path] + navigation.order
        guard let place = order.firstIndex(of: page.file.path) else { return "" }
        func link(_ path: String, _ relation: String, _ label: String) -> String {
            """
            <a rel="\(relation)" href="\(self.link(path, from: page))"><span>\(label)</span> \(title(path))</a>

            """
        }
        let previous = place > 0 ? link(order[place - 1], "prev", "Previous") : ""
        let next = place + 1 < order.count ? link(order[place + 1], "next", "Next") : ""
        return "<nav class=\"neighbours\" aria-label=\"Previous and next page\">\n\(previous)\(next)</nav>"
    }
}
