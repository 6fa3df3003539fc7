// SPDX-License-Identifier: Apache-2.0

/// Takes the file out of a form, piece by piece (RFC 7578, RFC 2046 §5.1). Pure.
struct MultipartReader {
    private enum State {
        /// Before the first delimiter, or in a part.
        case content(isWanted: Bool)
        /// Behind a delimiter.
        case delimited
        case head
        case done
    }

    /// The most bytes of a part's head.
    private static let maxHead = 8 << 10
    /// The name of the wanted part.
    private static let field = "file"

    private let delimiter: [UInt8]
    private var state = State.content(isWanted: false)
    /// What has not been decided on. The first delimiter need not stand behind a line's end.
    private var rest = Array("\r\n".utf8)
    private var hasFile = false
    /// Whether the delimiter that ends the form has been read.
    private(set) var isComplete = false

    /// - Parameter boundary: as the `Content-Type` names it.
    init(boundary: String) {
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Reads the next bytes; returns those of the file among them.
    mutating func read(_ bytes: [UInt8]) -> [UInt8] {
        rest += bytes
        var file: [UInt8] = []
        while step(&file) {}
        return file
    }

    /// Returns whether there may be more to do.
    private mutating func step(_ file: inout [UInt8]) -> Bool {
        switch state {
        case .content(let isWanted):
            let found = rest.firstRange(of: delimiter)
            // The end may be the beginning of a delimiter.
            let end = found?.lowerBound ?? max(0, rest.count - delimiter.count + 1)
            if isWanted { file += rest[..<end] }
            rest.removeFirst(found?.upperBound ?? end)
            guard found != nil else { return false }
            state = .delimited
            return true
        case .delimited:
            guard rest.count >= 2 else { return false }
            if rest.starts(with: "--".utf8) {
                (state, isComplete) = (.done, true)
                return true
            }
            state = .head
            return true
        case .head:
            guard let end = rest.firstRange(of: "\r\n\r\n".utf8) else {
                guard rest.count > Self.maxHead else { return false }
                // Behind the file a part is skipped, however long its head is.
                state = hasFile ? .content(isWanted: false) : .done
                return true
            }
            let isWanted = !hasFile && Self.isFile(rest[..<end.lowerBound])
            hasFile = hasFile || isWanted
            rest.removeFirst(end.upperBound)
            state = .content(isWanted: isWanted)
            return true
        case .done:
            rest = []
            return false
        }
    }

    private static func isFile(_ head: ArraySlice<UInt8>) -> Bool {
        let lines = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
        let disposition = lines.first { $0.lowercased().hasPrefix("content-disposition:") } ?? ""
        return disposition.split(separator: ";").contains { part in
            let pair = part.trimmingPrefix(while: \.isWhitespace)
            return pair == "name=\"\(field)\"" || pair == "name=\(field)"
        }
    }
}
