// SPDX-License-Identifier: Apache-2.0

import Answering
import Primitives

extension AdminConnection {
    /// A whole answer.
    struct Answer {
        let status: Int
        /// The content as JSON; null where it is none.
        let content: JSONValue

        /// What a problem document says.
        var problem: String {
            guard case .string(let title)? = content["title"] else { return "status \(status)" }
            guard case .string(let detail)? = content["detail"] else { return title }
            return "\(title): \(detail)"
        }
    }

    /// The maximum number of bytes of a whole answer.
    private static var maxAnswerBytes: Int { 8 << 20 }

    /// Reads the rest of the answer.
    consuming func answer() throws(Failure) -> Answer {
        var text = ""
        while let line = try line() {
            text += line
            guard text.utf8.count <= Self.maxAnswerBytes else { throw .unexpectedAnswer }
        }
        var parser = JSONParser(Array(text.utf8), notesPositions: false)
        // Lost: what is wrong with it; the status says enough.
        return Answer(status: status, content: (try? parser.parse()) ?? .null)
    }
}
