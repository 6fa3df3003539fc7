// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("The file in a form (RFC 7578)")
struct MultipartReaderTests {
    /// The file, the same wherever the bytes are split.
    private func file(_ text: String, boundary: String = "B") -> String {
        let bytes = Array(text.utf8)
        func read(_ splits: [Int]) -> [UInt8] {
            var reader = MultipartReader(boundary: boundary)
            var start = 0
            return (splits + [bytes.count]).flatMap { end in
                defer { start = end }
                return reader.read(Array(bytes[start..<end]))
            }
        }
        let whole = read([])
        for splits in bytes.indices.map({ [$0] }) + [Array(bytes.indices)] { #expect(read(splits) == whole) }
        return String(decoding: whole, as: UTF8.self)
    }

    private let part = "Content-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n"

    @Test("The part of that name is taken, without the line's end that belongs to the delimiter")
    func named() {
        #expect(file("--B\r\n\(part)abc\r\n--B--\r\n") == "abc")
        #expect(file("preamble\r\n--B\r\n\(part)a\r\nb\r\n\r\n--B--") == "a\r\nb\r\n")
        #expect(
            file("--B\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nno\r\n--B\r\n\(part)yes\r\n--B--")
                == "yes")
        #expect(file("--B\r\ncontent-disposition: form-data; name=file\r\n\r\nabc\r\n--B--") == "abc")
    }

    @Test("Of several files the first is taken")
    func several() {
        #expect(file("--B\r\n\(part)one\r\n--B\r\n\(part)two\r\n--B--") == "one")
    }

    @Test("What looks like a delimiter is content")
    func lookAlikes() {
        #expect(file("--B\r\n\(part)a--B\r\n--A\r\nb\r\n--B--") == "a--B\r\n--A\r\nb")
        #expect(file("--B\r\n\(part)a\r\r\n\r\n--\r\n--B--") == "a\r\r\n\r\n--")
    }

    @Test("Without such a part, or with an endless head, there is no file")
    func none() {
        #expect(file("") == "")
        #expect(file("--B--") == "")
        #expect(file("abc") == "")
        #expect(file("--B\r\n\r\nabc\r\n--B--") == "")
        #expect(file("--B\r\nX: \(String(repeating: "x", count: 9_000))\r\n\r\nabc") == "")
    }
}
