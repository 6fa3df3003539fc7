// SPDX-License-Identifier: Apache-2.0

import Bodies
import Request
import TestSupport
import Testing
import URLs

@Suite("Pictures that requests bring")
struct UploadTests {
    private static let key = Array("imageproxyd-test-key-1".utf8)
    private static let small = "/img?transform=resize:30x20&format=png"

    private func proxy(
        _ security: String = "\"allowUploads\": true", uploads: Bool = false,
        http: String = "\"maxBodyBytes\": \"2MiB\""
    ) async throws -> Proxy {
        let folder = try TemporaryDirectory()
        try folder.write(Self.key, to: "key")
        return try await Proxy(
            settings: "\"http\": {\(http)}",
            security: security.replacing("KEY", with: "\"\(folder.path)/key\""),
            in: folder, uploads: uploads)
    }

    @Test("A picture is the body, and its answer is not stored")
    func plain() async throws {
        let proxy = try await proxy()

        let first = try await proxy.send(Fixtures.photo, to: Self.small)
        let second = try await proxy.send(Fixtures.photo, to: Self.small)
        let got = try await proxy.get(Self.small)

        #expect(first.status == 200 && first.pngSize == [30, 20])
        #expect(
            first["Cache-Control"]?.contains("no-store") == true
                || first["Cache-Control"]?.contains("private") == true)
        #expect(second.body == first.body)
        #expect(second["Cache-Status"]?.contains("hit") == false)
        #expect(got.status == 400 && got.code == "missing_parameter")
        #expect(proxy.origin.count("/a.jpg") == 0)
    }

    @Test("Where the configuration wants it, equal bytes with the same transform are a hit")
    func stored() async throws {
        let proxy = try await proxy(uploads: true)

        let first = try await proxy.send(Fixtures.photo, to: Self.small)
        let second = try await proxy.send(Fixtures.photo, to: Self.small)
        let other = try await proxy.send(Fixtures.photo, to: Self.small.replacing("30x20", with: "15x10"))
        let got = try await proxy.get(Self.small)

        #expect(first.pngSize == [30, 20] && second.body == first.body && other.pngSize == [15, 10])
        #expect(second["Cache-Status"]?.contains("hit") == true, "\(second["Cache-Status"] ?? "none")")
        #expect(got.status == 400 && got.code == "missing_parameter")
    }

    @Test("No client gets an uploaded picture by the name that stands for it")
    func secret() async throws {
        let proxy = try await proxy(uploads: true)
        _ = try await proxy.send(Fixtures.photo, to: Self.small)
        let name = try SourceURL.upload(ContentHash(of: Fixtures.photo).bytes).normalized

        for target in ["\(Self.small)&url=\(name)", "/info?url=\(name)"] {
            let answer = try await proxy.get(target)
            #expect(answer.status == 403 && answer.code == "source_forbidden")
        }
    }

    @Test("A body in chunks, and the one of a form, are taken as well")
    func forms() async throws {
        let proxy = try await proxy()
        let photo = Fixtures.photo
        var chunked: [UInt8] = []
        for start in stride(from: 0, to: photo.count, by: 10_000) {
            let piece = photo[start..<min(start + 10_000, photo.count)]
            chunked += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
        }
        chunked += Array("0\r\n\r\n".utf8)
        let head =
            "--XyZ\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n--XyZ\r\n"
            + "Content-Disposition: form-data; name=\"file\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n"
        let form = Array(head.utf8) + photo + Array("\r\n--XyZ--\r\n".utf8)

        let other =
            Array(head.replacing("name=\"file\"", with: "name=\"photo\"").utf8) + photo
            + Array("\r\n--XyZ--\r\n".utf8)
        let unnamed = try await proxy.send(
            other, to: Self.small, ["Content-Type: multipart/form-data; boundary=XyZ"])
        let plain = try await proxy.send(photo, to: Self.small)
        let streamed = try await proxy.sendChunked(chunked, to: Self.small)
        let posted = try await proxy.send(
            form, to: Self.small, ["Content-Type: multipart/form-data; boundary=\"XyZ\""])

        #expect(plain.pngSize == [30, 20])
        #expect(streamed.body == plain.body)
        #expect(posted.body == plain.body)
        #expect(unnamed.status == 400 && unnamed.text.contains("no part named 'file'"), "\(unnamed.text)")
    }

    @Test("A form that was cut off is 400, and so is one whose boundary is hidden among odd letters")
    func oddForms() async throws {
        let proxy = try await proxy()
        let head = "--XyZ\r\nContent-Disposition: form-data; name=file\r\n\r\n"
        let cut = Array(head.utf8) + Fixtures.photo
        let whole = cut + Array("\r\n--XyZ--".utf8)

        let incomplete = try await proxy.send(
            cut, to: Self.small, ["Content-Type: multipart/form-data; boundary=XyZ"])
        // The lower case of this letter takes a byte more.
        let letters = String(repeating: "İ", count: 40)
        let odd = try await proxy.send(
            whole, to: Self.small, ["Content-Type: multipart/form-data; x=\(letters); Boundary=XyZ"])
        let unbound = try await proxy.send(
            whole, to: Self.small, ["Content-Type: multipart/form-data; x=\(letters)boundary=XyZ"])

        #expect(incomplete.status == 400 && incomplete.text.contains("last delimiter"), "\(incomplete.text)")
        #expect(odd.pngSize == [30, 20])
        #expect(unbound.status == 415)
    }

    @Test("A body beyond the bound is 413, and one that is no picture 415")
    func bounds() async throws {
        let proxy = try await proxy(http: "\"maxBodyBytes\": \"100KiB\"")

        let large = try await proxy.send([UInt8](repeating: 0xFF, count: 200_000), to: Self.small)
        let text = try await proxy.send(Array("hello, this is no picture at all".utf8), to: Self.small)
        let nothing = try await proxy.send([], to: Self.small)
        let both = try await proxy.send(Fixtures.photo.prefix(90_000) + [], to: proxy.target("/a.jpg"))

        #expect(large.status == 413 && large.text.contains("at most 102400 bytes (http.maxBodyBytes)"))
        #expect(text.status == 415 && text.code == "not_an_image")
        #expect(nothing.status == 400 && nothing.code == "missing_parameter")
        #expect(both.status == 400 && both.code == "invalid_parameter")
    }

    @Test("Without a signature a body is refused, unless the settings allow it; with one it is taken")
    func signed() async throws {
        let proxy = try await proxy("\"keys\": [KEY], \"requireSignature\": false")
        let signed = SignaturePolicy.sign(Self.small, with: Self.key)

        let without = try await proxy.send(Fixtures.photo, to: Self.small)
        let wrong = try await proxy.send(Fixtures.photo, to: signed.replacing("30x20", with: "31x20"))
        let right = try await proxy.send(Fixtures.photo, to: signed)

        #expect(without.status == 403 && without.code == "signature_required")
        #expect(wrong.status == 403 && wrong.code == "signature_mismatch")
        #expect(right.pngSize == [30, 20])
    }

    @Test("Where no request may bring a picture, POST is not allowed")
    func notAllowed() async throws {
        let proxy = try await proxy("\"openProxy\": false")

        let answer = try await proxy.send(Fixtures.photo, to: Self.small)
        let operators = try await proxy.send(Fixtures.photo, to: Self.small, byAdmin: true)

        #expect(answer.status == 405)
        #expect(answer.text.contains("security.allowUploads") && answer.text.contains("security.keys"))
        #expect(operators.pngSize == [30, 20])
    }

    @Test("Facts about a body are answered like those about a source")
    func facts() async throws {
        let proxy = try await proxy()

        let answer = try await proxy.send(Fixtures.photo, to: "/info")

        #expect(answer.status == 200 && answer.text.contains("\"width\": 1200"))
    }

    @Test("An operator gets facts about a body, too, and only so")
    func operatorsFacts() async throws {
        let proxy = try await proxy("\"openProxy\": false")

        let answer = try await proxy.send(Fixtures.photo, to: "/info", byAdmin: true)
        let got = try await proxy.administer("GET", "/info")
        let picture = try await proxy.send(Fixtures.photo, to: Self.small, byAdmin: true)

        #expect(answer.status == 200 && answer.text.contains("\"width\": 1200"), "\(answer.text)")
        #expect(got.status == 400 && got.text.contains("url"))
        #expect(picture.pngSize == [30, 20])
    }

    @Test("imaginary's paths without keys take a body only where the settings allow it, and say so")
    func imaginary() async throws {
        let dialect = "\"dialects\": [{\"name\": \"imaginary\", \"prefix\": \"/old\"}]"
        let closed = try await Proxy(settings: dialect)
        let open = try await Proxy(settings: dialect, security: "\"allowUploads\": true")
        let target = "/old/resize?width=30&type=png"

        let refused = try await closed.send(Fixtures.photo, to: target)

        #expect(refused.status == 403 && refused.code == "signature_required")
        #expect(refused.text.contains("security.allowUploads") && !refused.text.contains("&sig="))
        #expect(try await open.send(Fixtures.photo, to: target).pngSize == [30, 20])
    }

    @Test("A client that leaves in the middle of its body leaves nothing behind")
    func abandoned() async throws {
        let proxy = try await proxy()

        try await onThread {
            let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
            try client.send("POST \(Self.small) HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n")
            try client.send(bytes: [UInt8](repeating: 1, count: 300_000))
            client.reset()
        }

        #expect(try await proxy.send(Fixtures.photo, to: Self.small).pngSize == [30, 20])
    }
}
