// SPDX-License-Identifier: Apache-2.0

import Foundation
import Imaging
import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Commands for pictures in files")
struct TransformCommandTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.write(Fixtures.photo, to: "photo.jpg")
    }

    private func run(_ arguments: String...) async throws -> OtherProgram.Outcome {
        try await OtherProgram.run(DaemonProcess.executable, arguments)
    }

    @Test("transform writes what the output's extension says, by the operations that are given")
    func extensions() async throws {
        let outcome = try await run(
            "transform", "--transform", "resize:30x20:fill", folder.path + "/photo.jpg",
            folder.path + "/a.png")
        #expect(outcome.code == 0 && outcome.errors.isEmpty)
        #expect(RawHTTPClient.pngSize(try folder.read("a.png")) == [30, 20])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "a.png", "photo.jpg",
            ])
    }

    @Test(
        "The output's extension says the format beside a preset that names none, and not beside one that does"
    )
    func presetFormats() async throws {
        try folder.write(
            Array(
                """
                {"presets": {"plain": {"transform": "resize:9x"}, "web": {"transform": "resize:9x", "format": "webp"}}}
                """.utf8), to: "config.json")
        func written(_ preset: String) async throws -> ImageFormat? {
            let outcome = try await run(
                "transform", "--config", folder.path + "/config.json", "--preset", preset,
                folder.path + "/photo.jpg", folder.path + "/a.png")
            #expect(outcome.code == 0, "\(outcome.errors)")
            return ImageFormat(sniffing: try folder.read("a.png"))
        }

        #expect(try await written("plain") == .png)
        #expect(try await written("web") == .webp)
    }

    @Test("transform reads and writes pipes, and takes every other parameter of /img")
    func pipes() async throws {
        let script =
            #""$0" transform - - --parameter format=png --transform resize:9x --parameter dpr=2 < "$1" | cat > "$2""#
        let outcome = try await OtherProgram.run(
            "/bin/sh",
            ["-c", script, DaemonProcess.executable, folder.path + "/photo.jpg", folder.path + "/b.png"],
            environment: ["PATH": "/usr/bin:/bin"])
        #expect(outcome.code == 0 && outcome.errors.isEmpty)
        #expect(RawHTTPClient.pngSize(try folder.read("b.png"))?.first == 18)
    }

    @Test(
        "What is wrong is named, and no file is left",
        arguments: [
            (["photo.jpg", "a.png", "--transform", "rezise:3x"], "resize"),
            (["photo.jpg", "a.xyz"], ".xyz"),
            (["photo.jpg", "-"], "nothing to do"),
            (["none.jpg", "a.png"], "none.jpg"),
            (["photo.jpg", "nowhere/a.png"], "nowhere/a.png"),
            (["photo.jpg", "a.png", "--parameter", "url=https://a/"], "url"),
            (["text.jpg", "a.png"], "image"),
            (["picture.bmp", "a.png"], "'BMP' is not supported"),
        ])
    func wrong(arguments: [String], named: String) async throws {
        try folder.write(Array("no picture".utf8), to: "text.jpg")
        // The size of the second header distinguishes a BMP from a text that begins with its letters.
        try folder.write(
            Array("BM".utf8) + Array(repeating: 0, count: 12) + [40] + Array(repeating: 0, count: 39),
            to: "picture.bmp")
        let files = arguments.map { argument in
            argument.contains(".") && !argument.contains("=") ? folder.path + "/" + argument : argument
        }
        let outcome = try await OtherProgram.run(DaemonProcess.executable, ["transform"] + files)
        #expect(outcome.code != 0 && outcome.errors.contains(named), "\(outcome.errors)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "photo.jpg", "picture.bmp", "text.jpg",
            ])
    }

    @Test("info says what a picture is, in lines or as JSON")
    func information() async throws {
        let lines = try await run("info", folder.path + "/photo.jpg")
        let json = try await run("info", "--json", folder.path + "/photo.jpg")
        #expect(lines.code == 0 && lines.output.contains("format"))
        var parser = JSONParser(Array(json.output.utf8))
        let facts = try parser.parse()
        #expect(facts.text("format") == "jpeg" && facts.int("width") > 0)
    }
}
