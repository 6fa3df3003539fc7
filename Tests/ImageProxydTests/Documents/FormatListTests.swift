// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Imaging

@Suite("Formats in documents and pages")
struct FormatListTests {
    private static let written = ImageFormat.allCases.filter { $0.traits.isWritable }

    @Test("Every format is named where a reader looks for it", arguments: ImageFormat.allCases)
    func documents(format: ImageFormat) {
        #expect(TextFiles.read("docs/engine.md").contains(format.traits.title))
        guard format.traits.isWritable else { return }
        for (page, text) in [
            ("README.md", "`\(format.rawValue)`"), ("docs/url.md", "`\(format.rawValue)`"),
            ("docs/transforms.md", "\n| `\(format.rawValue)` |"),
        ] {
            #expect(TextFiles.read(page).contains(text), "\(page)")
        }
    }

    @Test("The playground compares the formats that have a quality")
    func qualities() throws {
        let lossy = try names(after: "const lossy = ", in: "grid.js")

        #expect(lossy == Set(Self.written.filter { $0.traits.defaultQuality != nil }.map(\.rawValue)))
    }

    @Test("The playground shows the originals that browsers show, drawings included")
    func shown() throws {
        let shown = try names(after: "const shownFormats = new Set(", in: "preview.js")

        #expect(shown == Set((ImageFormat.shownByBrowsers + [.svg]).map(\.rawValue)))
    }

    @Test("The playground calls formats by their names")
    func titles() {
        let script = TextFiles.read("Sources/WebAssets/files/playground/request.js")
        for format in ImageFormat.allCases where format.traits.title != format.rawValue.uppercased() {
            #expect(script.contains("\(format.rawValue): \"\(format.traits.title)\""), "\(format)")
        }
    }

    /// The texts of a list in a script of the playground.
    private func names(after start: String, in script: String) throws -> Set<String> {
        let text = TextFiles.read("Sources/WebAssets/files/playground/" + script)
        let list = try #require(text.split(separator: start).last?.prefix { $0 != "]" })
        return Set(list.matches(of: /"([a-z0-9]+)"/).map { String($0.1) })
    }
}
