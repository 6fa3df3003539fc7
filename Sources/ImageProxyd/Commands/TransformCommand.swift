// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bodies
import Imaging
import Pipeline
import Primitives
import Request

/// The parameters of `/img` as options, for pictures that are files.
struct PictureOptions: ParsableArguments {
    @Option(help: "Operations in order, such as resize:300x200:cover,round:20.")
    var transform: String?

    @Option(help: "A preset of the settings.")
    var preset: String?

    @Option(help: "The format to write: \(WritableFormat.choices.joined(separator: ", ")).")
    var format: String?

    @Option(help: "The quality, 1 to 100.")
    var quality: String?

    @Option(help: "The most bytes that the result may have, such as 20KiB.")
    var maxBytes: String?

    @Option(help: "What to keep of the metadata: strip, keep, none.")
    var metadata: String?

    @Option(
        name: .customLong("parameter"),
        help: "Any other parameter of /img, as name=value; may be repeated.")
    var parameters: [String] = []

    /// Name and value of each that is given.
    func items() throws -> [QueryItem] {
        let named = [
            ("transform", transform), ("preset", preset), ("format", format), ("quality", quality),
            ("max_bytes", maxBytes), ("metadata", metadata),
        ]
        let others = try parameters.map { text in
            guard let sign = text.firstIndex(of: "=") else {
                throw ValidationError("--parameter '\(text)': name=value is needed")
            }
            return QueryItem(
                name: String(text[..<sign]), value: String(text[text.index(after: sign)...]))
        }
        return named.compactMap { name, value in value.map { QueryItem(name: name, value: $0) } }
            + others
    }
}

/// `imageproxyd transform`: transforms a file, without a server.
struct TransformCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transform",
        abstract: "Transforms a picture in a file as /img would, without a server.",
        discussion: """
            Without --format the output's extension names the format. Limits, presets and watermarks are those of the \
            settings. The picture is decoded in a sandboxed process. The output appears when it is complete, \
            in place of a file of that name.
            """)

    @OptionGroup var options: PictureOptions

    @OptionGroup var settings: SettingsOptions

    @Argument(help: "The picture; - is the standard input.", completion: .file())
    var input: String

    @Argument(help: "The result; - is the standard output.", completion: .file())
    var output: String

    func run() async throws {
        var items = try options.items()
        let picture = try LocalPicture(settings)
        if !picture.namesFormat(items), let format = try formatOfOutput() {
            items.append(QueryItem(name: "format", value: format))
        }
        guard let plan = try picture.plan(items) else {
            throw ValidationError("there is nothing to do: name an operation by --transform, or a format")
        }
        let source = try picture.read(input)
        let file = try OutputFile(output)
        let rendition = try await picture.renderInWorker(plan, from: source, into: file.descriptor)
        try file.finish(byteCount: rendition.byteCount)
    }

    /// The format that the output's extension names; nil where there is none.
    private func formatOfOutput() throws -> String? {
        guard output != "-", let dot = output.lastIndex(of: "."),
            !output[dot...].contains("/")
        else { return nil }
        let name = output[output.index(after: dot)...].lowercased()
        let format = ["jpg": "jpeg", "jpe": "jpeg", "tif": "tiff"][name] ?? name
        guard let known = ImageFormat(rawValue: format), known.traits.isWritable else {
            throw ValidationError("'.\(name)' is no format that can be written: name one by --format")
        }
        return format
    }
}

/// `imageproxyd info`: what `/info` would say of a file, without a server.
struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract:
            "Says what a picture in a file is: format, size, orientation, frames, colours; without a server.")

    @Flag(help: "Print JSON, as /info answers.")
    var json = false

    @OptionGroup var settings: SettingsOptions

    @Argument(help: "The picture; - is the standard input.", completion: .file())
    var file: String

    func run() async throws {
        let picture = try LocalPicture(settings)
        let output = try OutputFile("-")
        let rendition = try await picture.renderInWorker(
            try picture.informationPlan(), from: try picture.read(file), into: output.descriptor)
        var parser = JSONParser(try output.descriptor.readAll(from: 0, count: rendition.byteCount))
        let facts = try parser.parse()
        if json { return print(facts.pretty()) }
        Self.write(facts)
    }

    private static func write(_ facts: JSONValue, indentation: String = "") {
        guard case .object(let members) = facts else { return }
        for member in members {
            switch member.value {
            case .object where !indentation.isEmpty:
                print(indentation + "\(member.name): \(member.value.compact)")
            case .object:
                print("\(member.name):")
                write(member.value, indentation: "  ")
            case .string(let text): print((indentation + member.name).padded(to: 20) + text)
            case .null: continue
            default: print((indentation + member.name).padded(to: 20) + member.value.compact)
            }
        }
    }
}
