// SPDX-License-Identifier: Apache-2.0

import Answering
import ArgumentParser
import Dialects
import Glibc
import Pipeline
import Request

/// `imageproxyd translate`: says what another proxy's URLs mean here.
struct TranslateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "translate",
        abstract: "Prints what a URL of another image proxy means here, or how many of a log are understood.",
        discussion: """
            Without a dialect its form says whose it is. Of a URL of ours whose parameters stand in the path, \
            /img/format=webp/https://…, the query form is printed. \
            The dialect is the one of that name in the settings, or has its default settings where they do not name it, and \
            takes any signature then: \
            imageproxyd translate --dialect imgproxy '/unsafe/rs:fill:300:200/plain/https://example.org/cat.jpg@webp'
            A log has in each line a URL, a path, a request as web servers write it ("GET /… HTTP/1.1"), or JSON with one of \
            them. What the settings refuse of /img, such as sources and missing signatures, counts as not understood.
            """)

    @Option(help: "Whose URL it is: \(DialectRegistry.names.joined(separator: ", ")).")
    var dialect: String?

    @Flag(help: "Also say which options have no effect here, and why.")
    var explain = false

    @Option(help: "Read a log in place of a URL; - is the standard input.", completion: .file())
    var log: String?

    @OptionGroup var settings: SettingsOptions

    @Argument(help: "A URL of the other proxy, or its path and query.")
    var url: String?

    func validate() throws {
        guard dialect != nil || log == nil else { throw ValidationError("a log needs --dialect") }
        guard dialect.map({ DialectRegistry.named($0) != nil }) ?? true else {
            let names = DialectRegistry.names.joined(separator: ", ")
            throw ValidationError("there is no dialect '\(dialect ?? "")', only \(names)")
        }
        guard (url == nil) != (log == nil) else {
            throw ValidationError("a URL or --log FILE is needed, and not both")
        }
    }

    func run() throws {
        let (configuration, files, _) = try settings.loadAll()
        let request = url.flatMap { LoggedRequest(url: $0) }
        let (target, routes) = (request?.target ?? "", files.dialects)
        let place = DialectRoute.route(of: target, among: routes)?.name
        guard let dialect = try dialect ?? place ?? guess() else { return print(try queryForm()) }
        let known = DialectRoute.route(of: target, among: routes, dialect: dialect)
        guard let route = known ?? URLTranslator.usual(dialect, at: request?.site) else {
            throw ExitCode.failure
        }
        let parser = try Components.parser(configuration, files)
        if let log { return print(try report(on: log, route, parser).text) }
        guard let request else {
            throw ValidationError("'\(url ?? "")' is neither a path nor a URL with one")
        }
        do throws(ImageRequestError) {
            let translation = try route.translation(of: request, by: parser)
            print(translation.target)
            if explain { for note in translation.ignored { print("ignored: \(note)") } }
        } catch {
            let advice =
                configuration.dialects.isEmpty
                ? ". No dialects are configured (--config), so this one has its usual settings, and no prefix"
                : ""
            throw HostProcess.reported(PipelineError(error).explanation + advice)
        }
    }

    /// Whose URL it is by its form; nil for a URL of ours.
    private func guess() throws -> String? {
        guard let url, let target = LoggedRequest(url: url)?.target else { return nil }
        guard !target.hasPrefix("/img?") else { throw ValidationError("it is a URL of ours already") }
        guard !target.utf8.starts(with: PathForm.prefix) else { return nil }
        guard let name = DialectGuess.dialect(of: url) else {
            throw ValidationError("the URL has no form that is known; --dialect says whose it is")
        }
        HostProcess.reportError("note: read as a URL of \(name); --dialect names another proxy")
        return name
    }

    /// The query form of a URL of ours.
    private func queryForm() throws -> String {
        guard let url, let target = LoggedRequest(url: url)?.target, target.utf8.starts(with: PathForm.prefix)
        else { throw ValidationError("'\(url ?? "")' is neither a path nor a URL with one") }
        do throws(ImageRequestError) {
            return String(decoding: try PathForm.query(of: Array(target.utf8)), as: UTF8.self)
        } catch {
            throw HostProcess.reported(PipelineError(error).detail ?? "\(error)")
        }
    }

    private func report(
        on path: String, _ route: DialectRoute, _ parser: ImageRequestParser
    ) throws -> TranslationReport {
        var report = TranslationReport()
        guard let file = unsafe fopen(path == "-" ? "/dev/stdin" : path, "r") else {
            throw ValidationError("\(path) can't be read")
        }
        defer { unsafe fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        // Safe because getline(3) ends each line that it returns with 0, and grows the buffer itself.
        while unsafe getline(&line, &capacity, file) >= 0,
            let text = unsafe line.map({ unsafe String(cString: $0) })
        {
            guard let request = LoggedRequest(line: text.prefix { !$0.isNewline }) else {
                report.countLine()
                continue
            }
            report.count(
                Result { () throws(ImageRequestError) in try route.translation(of: request, by: parser) })
        }
        unsafe free(line)
        return report
    }
}
