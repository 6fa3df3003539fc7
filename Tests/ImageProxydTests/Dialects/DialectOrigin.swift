// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import URLs

/// The origin that the cases were recorded with: the sources under their names and others, and failures.
struct DialectOrigin: Sendable {
    let origin: FakeOrigin
    private var host: String { "127.0.0.1:\(origin.port)" }

    static let names = [
        "photo.jpg", "portrait.jpg", "small.jpg", "wide.jpg", "exif6.jpg", "alpha.png", "anim.gif",
        "border.png",
        "wm.png",
    ]

    /// The bytes of a source.
    static func source(_ name: String) -> [UInt8] { Fixtures.read("dialects/sources/\(name)") }

    /// The path of a source.
    static func path(of name: String) -> String { TextFiles.path("Tests/Fixtures/dialects/sources/\(name)") }

    init() throws {
        origin = try FakeOrigin()
        let aliases = [
            ("/sp%20ace.jpg", "photo.jpg"), ("/at@sign.jpg", "small.jpg"), ("/at%40sign.jpg", "small.jpg"),
            ("/plus+sign.jpg", "portrait.jpg"), ("/plus%2Bsign.jpg", "portrait.jpg"),
            ("/%C3%BCn%C3%AF.jpg", "small.jpg"), ("/deep/er/photo.jpg", "photo.jpg"), ("/noext", "photo.jpg"),
            ("//photo.jpg", "photo.jpg"),
            ("/smart/300x200/fit-in.jpg", "wide.jpg"), ("/par(en),s.jpg", "portrait.jpg"),
            ("/par%28en%29,s.jpg", "portrait.jpg"), ("/par%28en%29%2Cs.jpg", "portrait.jpg"),
            ("/plain/photo.jpg", "photo.jpg"), ("/UPPER.JPG", "small.jpg"), ("/dot.dot.jpg", "small.jpg"),
        ]
        for (path, name) in Self.names.map({ ("/\($0)", $0) }) + aliases {
            origin.route(path, Self.answer(name))
        }
        origin.route("/q.jpg") { request in
            switch request.target {
            case "/q.jpg?x=1&y=2": Self.answer("wide.jpg")
            case "/q.jpg?w=9": Self.answer("portrait.jpg")
            default: .status(404)
            }
        }
        origin.route("/500.jpg", .status(500))
        origin.route("/text.jpg", .body(Array("no picture".utf8), type: "text/plain"))
        origin.route("/empty.jpg", .body([], type: "image/jpeg"))
        origin.route("/broken.jpg", .body(Array(Self.source("photo.jpg").prefix(300)), type: "image/jpeg"))
        origin.route("/redirect.jpg", .redirect(to: "/photo.jpg"))
        origin.route("/octet.jpg", .body(Self.source("photo.jpg"), type: "application/octet-stream"))
    }

    private static func answer(_ name: String) -> OriginAnswer {
        let types = ["jpg": "image/jpeg", "png": "image/png", "gif": "image/gif"]
        let type = name.split(separator: ".").last.flatMap { types[String($0)] } ?? "image/jpeg"
        return .body(source(name), type: type, fields: [("Cache-Control", "max-age=60")])
    }

    /// A text of a case with the origin's address.
    func filling(_ text: String) -> String {
        text.replacing("{SRC_E}", with: Self.escaped("http://\(host)"))
            .replacing("{HOST_E}", with: Self.escaped(host)).replacing("{SRC}", with: "http://\(host)")
            .replacing("{HOST}", with: host)
    }

    /// Percent-encodes all but unreserved characters (RFC 3986 §2.3).
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            byte.isUnreserved
                ? String(UnicodeScalar(byte))
                : "%" + String(Int(byte) + 0x100, radix: 16, uppercase: true).suffix(2)
        }.joined()
    }
}
