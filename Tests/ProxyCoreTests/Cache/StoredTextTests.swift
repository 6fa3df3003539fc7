// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Freshness

@Suite("Texts of stored records")
struct StoredTextTests {
    @Test(
        "A record with a text that is no field's value is invalid",
        arguments: ["\r\nX: y", "\n", "\0", "\u{7F}"])
    func controlCharacters(text: String) throws {
        func isRead(_ change: (inout SourceRecord) -> Void) throws -> Bool {
            var record = record()
            change(&record)
            return PortableRecord(try #require(PortableRecord(record).encoded())) != nil
        }

        #expect(try isRead { $0.reuse.entityTag = "\"ä\t\"" })
        #expect(try !isRead { $0.reuse.entityTag = "\"a\"" + text })
        #expect(try !isRead { $0.reuse.lastModified = "a" + text })
        #expect(
            try text == "\n"
                || !isRead { $0.reuse.reuseFields = [HeaderField(name: "expires", value: "a" + text)] }
        )
        #expect(try !isRead { $0.reuse.reuseFields = [HeaderField(name: "a" + text, value: "a")] })
    }
}
