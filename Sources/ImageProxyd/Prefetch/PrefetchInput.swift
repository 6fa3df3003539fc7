// SPDX-License-Identifier: Apache-2.0

import Glibc
import Imaging
import Loading
import Primitives

/// Reads sources from a file, a pipe or a download: lines, JSON or a sitemap, also packed with gzip. Reads piece by piece.
struct PrefetchInput {
    /// What is read, for errors.
    let name: String

    /// Why the input can't be used.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// What an input has.
    enum Item {
        case url(String)
        /// A sitemap that an index names.
        case sitemap(String)
        /// The members of a JSON object beside the sources.
        case members([JSONValue.Member])
        /// Nothing for a while.
        case pause
    }

    /// How an input is read, as its first byte shows.
    private enum Form {
        case unknown
        case lines
        case json([UInt8])
        case sitemap(SitemapReader)
    }

    /// The maximum number of bytes of JSON, which is read as a whole.
    private static let maxJSONBytes = 8 << 20
    /// The maximum number of bytes that a packed input has unpacked: twenty sitemaps of the greatest length.
    private static let maxUnpackedBytes = 1 << 30
    /// How many packed bytes are unpacked at once: they become at most a thousand times as many.
    private static let packedPiece = 1 << 10
    /// Blanks, and a byte order mark, before the first byte that shows the form.
    private static let blanks = Set<UInt8>([0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF])
    private static let pieceBytes = 64 << 10
    /// The time in milliseconds after which a pipe that has nothing counts as pausing.
    private static let pauseTimeout: CInt = 5_000

    private var form = Form.unknown
    private var line: [UInt8] = []
    private var lineNumber = 1

    init(name: String) {
        self.name = name
    }

    /// Reads all of a descriptor, and passes on what it has.
    mutating func read(_ descriptor: CInt, _ next: (Item) throws -> Void) throws {
        var buffer = [UInt8](repeating: 0, count: Self.pieceBytes)
        var inflater: Inflater?
        var start: [UInt8]? = []
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&entry, 1, Self.pauseTimeout) == 0 {
                try next(.pause)
                continue
            }
            let count = retryingOnInterrupt {
                unsafe Glibc.read(descriptor, &buffer, buffer.count)
            }
            guard count >= 0 else { throw problem(systemErrorText(errno)) }
            var bytes = buffer[..<count]
            if let known = start {
                bytes = (known + bytes)[...]
                start = bytes.count < 2 && count > 0 ? Array(bytes) : nil
                if start != nil { continue }
                if bytes.starts(with: [0x1F, 0x8B]) {
                    inflater = Inflater(.gzip, maxBytes: Self.maxUnpackedBytes)
                }
            }
            if let inflater {
                try unpack(bytes, inflater, next)
            } else {
                try take(bytes, next)
            }
            if count == 0 { break }
        }
        if let inflater, !inflater.isComplete { throw problem("the gzip stream is cut short") }
        try finish(next)
    }

    private mutating func unpack(
        _ bytes: ArraySlice<UInt8>, _ inflater: Inflater, _ next: (Item) throws -> Void
    ) throws {
        var rest = bytes
        while !rest.isEmpty {
            var unpacked: [UInt8] = []
            do throws(LoadError) {
                try unsafe Array(rest.prefix(Self.packedPiece)).withBytes { (bytes) throws(LoadError) in
                    try unsafe inflater.take(bytes) { unsafe unpacked.append(contentsOf: $0) }
                }
            } catch .tooLarge {
                throw problem("it has more than \(ByteCount(Self.maxUnpackedBytes)) unpacked")
            } catch {
                throw problem("the gzip stream is damaged")
            }
            try take(unpacked[...], next)
            rest = rest.dropFirst(Self.packedPiece)
        }
    }

    private func problem(_ reason: String) -> Problem { Problem(description: "\(name): \(reason)") }

    // MARK: - Forms

    private mutating func take(_ bytes: ArraySlice<UInt8>, _ next: (Item) throws -> Void) throws {
        switch form {
        case .unknown:
            let rest = bytes.drop { Self.blanks.contains($0) }
            guard let first = rest.first else { return }
            switch first {
            case UInt8(ascii: "<"): form = .sitemap(SitemapReader())
            case UInt8(ascii: "{"), UInt8(ascii: "["): form = .json([])
            default: form = .lines
            }
            try take(rest, next)
        case .lines: try takeLines(bytes, next)
        case .json(var text):
            form = .unknown
            text += bytes
            form = .json(text)
            guard text.count <= Self.maxJSONBytes else {
                throw problem("JSON of more than \(ByteCount(Self.maxJSONBytes)): write a long list as lines")
            }
        case .sitemap(var reader):
            // Moved, so that nothing is copied.
            form = .unknown
            try Self.read(bytes, &reader, in: self, next)
            form = .sitemap(reader)
        }
    }

    private static func read(
        _ bytes: ArraySlice<UInt8>, _ reader: inout SitemapReader, in input: PrefetchInput,
        _ next: (Item) throws -> Void
    ) throws {
        do {
            try reader.read(bytes) { entry in
                switch entry {
                case .image(let url): try next(.url(url))
                case .page(let url): if isPicture(url) { try next(.url(url)) }
                case .sitemap(let url): try next(.sitemap(url))
                }
            }
        } catch let error as SitemapReader.Problem {
            throw input.problem("\(error)")
        }
    }

    /// Whether the name of a page is that of a picture: most pages are none.
    static func isPicture(_ url: String) -> Bool {
        let path = url.prefix { $0 != "?" && $0 != "#" }.lowercased()
        return pictures.contains { path.hasSuffix($0) }
    }

    private static let pictures =
        ImageFormat.allCases.flatMap { [$0.traits.fileExtension, $0.rawValue] + $0.traits.aliases }
        .map { "." + $0 } + [".heif", ".tif", ".bmp"]

    private mutating func takeLines(_ bytes: ArraySlice<UInt8>, _ next: (Item) throws -> Void) throws {
        for part in bytes.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).enumerated() {
            if part.offset > 0 { try endLine(next) }
            line += part.element
            guard line.count <= PrefetchBody.maxURLBytes + 2 else {
                throw problem("line \(lineNumber) has more than \(PrefetchBody.maxURLBytes) bytes")
            }
        }
    }

    private mutating func endLine(_ next: (Item) throws -> Void) throws {
        defer {
            line.removeAll(keepingCapacity: true)
            lineNumber += 1
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw problem(
                "line \(lineNumber) is not UTF-8; a list of URLs, a line each, a sitemap or JSON is expected")
        }
        let url = text.trimmed
        if !url.isEmpty, !url.hasPrefix("#") { try next(.url(url)) }
    }

    private mutating func finish(_ next: (Item) throws -> Void) throws {
        switch form {
        case .unknown: break
        case .lines: try endLine(next)
        case .sitemap(let reader):
            do { try reader.finish() } catch { throw problem("\(error)") }
        case .json(let text): try readJSON(text, next)
        }
    }

    private func readJSON(_ text: [UInt8], _ next: (Item) throws -> Void) throws {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            var parser = JSONParser(text, notesPositions: false)
            value = try parser.parse()
        } catch {
            throw problem("line \(error.position.line), column \(error.position.column): \(error.message)")
        }
        var list = value
        if case .object(let members) = value {
            try next(.members(members.filter { $0.name != "urls" && $0.name != "more" }))
            list = value["urls"] ?? .null
        }
        guard case .array(let urls) = list else {
            throw problem("JSON needs a list of URLs, or an object with 'urls'")
        }
        for url in urls {
            guard case .string(let text) = url else { throw problem("a URL must be a text, not \(url.kind)") }
            try next(.url(text))
        }
    }
}

extension String {
    /// Without blanks at either end.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(
            start.prefix(
                upTo: start.lastIndex { !$0.isWhitespace }.map(start.index(after:)) ?? start.startIndex))
    }
}
