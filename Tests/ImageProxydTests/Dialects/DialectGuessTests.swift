// SPDX-License-Identifier: Apache-2.0

import Dialects
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Whose URL it is")
struct DialectGuessTests {
    @Test(
        "The form of nearly every URL that the dialects are tested with says whose it is",
        arguments: DialectRegistry.names)
    func fixtures(name: String) throws {
        let origin = try DialectOrigin()
        let targets = try DialectCase.all(of: name).map { $0.target(origin) }
        let right = targets.filter { DialectGuess.dialect(of: $0) == name }
        let wrong = targets.filter { DialectGuess.dialect(of: $0) != name }

        #expect(right.count * 20 >= targets.count * 19, "\(wrong.prefix(20))")
    }

    @Test(
        "Whole URLs name their proxy, too",
        arguments: [
            ("https://wsrv.nl/?url=a.example/b.jpg&w=300", "weserv"),
            ("https://images.weserv.nl/?url=a.example/b.jpg", "weserv"),
            ("https://shop.imgix.net/a/b.jpg?w=400", "imgix"),
            ("https://a.example/cdn-cgi/image/width=80/https://a.example/b.jpg", "cloudflare"),
            ("https://a.example/_next/image?url=%2Fb.jpg&w=640&q=75", "nextjs"),
            (
                "http://imgproxy.example/insecure/rs:fit:300:200/plain/https://a.example/b.jpg@webp",
                "imgproxy"
            ),
            ("http://imgproxy.example/insecure/w:300/aHR0cHM6Ly9hLmV4YW1wbGUvYi5qcGc", "imgproxy"),
            ("http://thumbor.example/unsafe/fit-in/300x200/smart/a.example/b.jpg", "thumbor"),
            ("http://imaginary.example/resize?width=300&url=https://a.example/b.jpg", "imaginary"),
            ("https://a.example/b.jpg", nil), ("/", nil), ("", nil),
        ])
    func urls(url: String, dialect: String?) {
        #expect(DialectGuess.dialect(of: url) == dialect)
    }
}
