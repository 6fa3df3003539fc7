// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@Suite("Hash functions and their authentication codes")
struct HashFunctionTests {
    private static let abc = Array("abc".utf8)

    @Test("The digests of the standards' own examples")
    func examples() {
        // RFC 1321 §A.5, FIPS 180-4 (NIST's example values).
        #expect(HashFunction.md5.hash(Self.abc).hexadecimal == "900150983cd24fb0d6963f7d28e17f72")
        #expect(HashFunction.sha1.hash(Self.abc).hexadecimal == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            SHA256.hash(Self.abc).hexadecimal
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            HashFunction.sha512.hash(Self.abc).hexadecimal
                == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
        #expect(
            SHA256.hash([]).hexadecimal
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test("The codes of the standards' own examples")
    func codes() {
        // RFC 2202 §3 cases 2 and 6; RFC 4231 §4.3 and §4.7: a short key, and one longer than a block.
        let (short, text) = (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        let long = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            HMACKey(.sha1, short).code(for: text).hexadecimal == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
        #expect(
            HMACKey(.sha1, [UInt8](repeating: 0xAA, count: 80)).code(for: long).hexadecimal
                == "aa4ae5e15272d00e95705637ce8a3b55ed402112")
        #expect(
            HMACKey(.sha256, short).code(for: text).hexadecimal
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            HMACKey(.sha256, [UInt8](repeating: 0xAA, count: 131)).code(for: long).hexadecimal
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
        #expect(
            HMACKey(.sha512, short).code(for: text).hexadecimal
                == "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737")
        #expect(
            HMACKey(.sha512, [UInt8](repeating: 0xAA, count: 131)).code(for: long).hexadecimal
                == "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
                + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598")
    }

    @Test("Digests and codes of every length around a block are those of Python's hashlib and hmac")
    func lengths() async throws {
        let script = """
            import hashlib, hmac
            for name in ("md5", "sha1", "sha256", "sha512"):
                for count in list(range(0, 140)) + [255, 256, 257, 100000]:
                    text = bytes(index * 7 % 251 for index in range(count))
                    print(hashlib.new(name, text).hexdigest(), hmac.new(text[:200], text, name).hexdigest())
            """
        let lines = try await OtherProgram.run("/usr/bin/python3", "-c", script).split(separator: "\n")
            .map(String.init)
        let counts = Array(0..<140) + [255, 256, 257, 100_000]

        let ours = [HashFunction.md5, .sha1, .sha256, .sha512].flatMap { function in
            counts.map { count in
                let text = (0..<count).map { UInt8($0 * 7 % 251) }
                let code = HMACKey(function, Array(text.prefix(200))).code(for: text)
                return function.hash(text).hexadecimal + " " + code.hexadecimal
            }
        }
        #expect(lines == ours)
    }

    @Test("Input in pieces has the digest of all of it")
    func pieces() {
        let text = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        for size in [1, 63, 64, 65, 999] {
            var function = SHA256()
            for start in stride(from: 0, to: text.count, by: size) {
                function.update(text[start..<min(start + size, text.count)])
            }
            #expect(function.finish() == SHA256.hash(text), "\(size)")
        }
        // A sequence without storage of its own.
        #expect(SHA256.hash(text.lazy.map { $0 }) == SHA256.hash(text))
    }

    @Test("A code is valid for its message alone, and whole")
    func validity() {
        let key = HMACKey(.sha256, Self.abc)
        let code = key.code(for: Self.abc)
        #expect(key.isValid(code, for: Self.abc))
        #expect(!key.isValid(Array(code.dropLast()), for: Self.abc) && !key.isValid([], for: Self.abc))
        #expect(!key.isValid(code, for: Self.abc + [0]) && !key.isValid(code + [0], for: Self.abc))
        for index in code.indices {
            var wrong = code
            wrong[index] ^= 1
            #expect(!key.isValid(wrong, for: Self.abc), "\(index)")
        }
    }
}
