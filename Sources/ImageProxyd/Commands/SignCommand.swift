// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Pipeline
import Request

/// `imageproxyd sign`: appends a signature to a URL.
struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Signs a URL with the first of security.keys, or with the key in a file.",
        discussion: """
            The signature covers path and query as they stand, so encode the source first: \
            imageproxyd sign --key FILE '/img?url=https%3A%2F%2Fexample.org%2Fcat.jpg'
            Of a path such as /img/format=webp/https://example.org/cat.jpg the same query is signed: docs/paths.md.
            A target that the daemon would refuse with these settings is signed all the same, with a warning. \
            Without a source it is one for a POST with the picture as its body, as /info is, too.
            """)

    @Option(help: "A file with the key: raw bytes, or text behind hex: or base64:.", completion: .file())
    var key: String?

    @OptionGroup var settings: SettingsOptions

    @Argument(help: "Path and query, such as /img?url=…; or a whole URL of the proxy.")
    var url: String

    func run() throws {
        let key = try key.map(Self.key(in:)) ?? configuredKey()
        guard let request = LoggedRequest(url: url) else {
            throw ValidationError("'\(url)' is neither a path nor an http or https URL with one")
        }
        guard !url.contains("#") else { throw ValidationError("'\(url)' has a fragment: encode '#' as %23") }
        let target = request.target
        let signed = try signed(target, key)
        let daemon = "with these settings\(settings.config == nil ? " (no --config)" : "") the daemon"
        if let remark = try settings.load().remark(onTarget: target, of: daemon) {
            HostProcess.reportError(remark)
        }
        print((request.site?.dropLast() ?? "") + signed)
    }

    private func signed(_ target: String, _ key: [UInt8]) throws -> String {
        guard !target.contains("&sig=") else { throw ValidationError("'\(url)' has a signature already") }
        do throws(ImageRequestError) {
            return try PathForm.sign(target, with: key)
        } catch {
            throw ValidationError("'\(url)': \(PipelineError(error).detail ?? "\(error)")")
        }
    }

    private func configuredKey() throws -> [UInt8] {
        guard let key = try settings.loadAll().files.firstKey else {
            throw ValidationError("there is no key: name one by --key or in security.keys")
        }
        return key
    }

    private static func key(in path: String) throws -> [UInt8] {
        do throws(ConfigurationError) {
            return try NamedFiles.key(at: path)
        } catch {
            throw HostProcess.reported(error.description)
        }
    }
}
