// SPDX-License-Identifier: Apache-2.0

/// Makes hostile inputs out of valid ones, the same for the same seed (SplitMix64).
struct InputGenerator: RandomNumberGenerator {
    private var state: UInt64
    private let corpus: [[UInt8]]

    /// Texts with a meaning in the grammars of HTTP.
    private static let words: [[UInt8]] = [
        "\r\n", "\n", "\r", "\0", " ", "\t", ":", ",", ";", "=", "\"", "\\", "/", "*", "?", "#", "%", "-",
        "\r\n\r\n",
        "\r\n ", " :", "GET ", "POST / HTTP/1.1\r\n", " HTTP/1.1\r\n", " HTTP/1.0\r\n", "HTTP/2.0",
        "Host: b\r\n",
        "Host:", "http://", "https://", "[::1]", "[", "]", "@", ":80", "Content-Length: 5\r\n",
        "Content-Length: ",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: ", "chunked", "gzip, ", "Connection: close\r\n",
        "keep-alive", "Expect: 100-continue\r\n", "0\r\n\r\n", "5\r\nhello\r\n", "0", "1", "9", "f",
        "ffffffffffffffff",
        "99999999999999999999", "bytes=", "0-0", "-1", "W/\"a\"", "\"a\"",
    ].map { Array($0.utf8) }

    init(seed: UInt64, corpus: [[UInt8]]) {
        state = seed
        self.corpus = corpus
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, or 0.
    mutating func number(below bound: Int) -> Int { bound > 1 ? Int(next() % UInt64(bound)) : 0 }

    /// The next input: one of the corpus with up to six changes.
    mutating func input() -> [UInt8] {
        var bytes = corpus[number(below: corpus.count)]
        for _ in 0..<number(below: 7) { change(&bytes) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = number(below: bytes.count + 1)
        let end = min(bytes.count, place + 1 + number(below: 12))
        switch number(below: 8) {
        case 0 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: next())
        case 1 where place < bytes.count: bytes[place] ^= 1 << UInt8(number(below: 8))
        case 2: bytes.removeSubrange(place..<end)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 4: bytes.insert(contentsOf: Self.words[number(below: Self.words.count)], at: place)
        case 5: bytes.replaceSubrange(place..<end, with: Self.words[number(below: Self.words.count)])
        case 6: bytes.removeSubrange(place...)
        default:
            let other = corpus[number(below: corpus.count)]
            bytes.replaceSubrange(place..., with: other[number(below: other.count + 1)...])
        }
    }
}
