// SPDX-License-Identifier: Apache-2.0

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
            Without a dialect it is a URL of ours whose parameters stand in the path, /img/format=webp/https://…, and its \
            query form is printed. \
            The dialect is the one of that name in the settings, or has its default settings where they do not name it: \
            imageproxyd translate --dialect imgproxy '/unsafe/rs:fill:300:200/plain/https://example.org/cat.jpg@webp'
            A log has a URL or a path in each line, or requests as web servers write them ("GET /… HTTP/1.1"). Signatures are \
            checked, where the settings have keys.
            """)

    @Option(help: "Whose URL it is: \(DialectRegistry.all.map { $0.name }.joined(separator: ", ")).")
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
            let names = DialectRegistry.all.map { $0.name }.joined(separator: ", ")
            throw ValidationError("there is no dialect '\(dialect ?? "")', only \(names)")
        }
        guard (url == nil) != (log == nil) else {
            throw ValidationError("a URL or --log FILE is needed, and not both")
        }
    }

    func run() throws {
        if let dialect, let log { return print(try report(on: log, route(dialect)).text) }
        guard let url, let target = Self.target(of: url) else {
            throw ValidationError("'\(url ?? "")' is neither a path nor a URL with one")
        }
        guard let dialect else { return print(try Self.queryForm(of: target)) }
        let route = try route(dialect)
        switch route.translation(of: target) {
        case .success(let translation):
            print(translation.target)
            if explain { for note in translation.ignored { print("ignored: \(note)") } }
        case .failure(let error):
            HostProcess.reportError(error.explanation)
            throw ExitCode.failure
        }
    }

    /// The query form of a URL of ours.
    private static func queryForm(of target: String) throws -> String {
        guard target.utf8.starts(with: PathForm.prefix) else {
            throw ValidationError("name whose URL it is by --dialect; without that, it begins with /img/")
        }
        do throws(ImageRequestError) {
            return String(decoding: try PathForm.query(of: Array(target.utf8)), as: UTF8.self)
        } catch {
            HostProcess.reportError(PipelineError(error).detail ?? "\(error)")
            throw ExitCode.failure
        }
    }

    private func route(_ dialect: String) throws -> ForeignRoute {
        let (configuration, files, _) = try settings.loadAll()
        if let index = configuration.dialects.firstIndex(where: { $0.name == dialect }) {
            return files.dialects[index]
        }
        let usual = try DialectConfiguration(name: dialect)
        guard let foreign = try usual.dialect(reading: { _ in nil }) else { throw ExitCode.failure }
        return ForeignRoute(dialect: foreign, prefix: "/", hasOwnErrors: false)
    }

    private func report(on path: String, _ route: ForeignRoute) throws -> TranslationReport {
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
            guard let target = TranslationReport.target(in: text.trimmed) else { continue }
            report.count(route.translation(of: target))
        }
        unsafe free(line)
        return report
    }

    /// Path and query of a URL.
    static func target(of url: some StringProtocol) -> String? {
        if url.hasPrefix("/") { return String(url) }
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), let mark = url.firstRange(of: "://"),
            let slash = url[mark.upperBound...].firstIndex(of: "/")
        else { return nil }
        return String(url[slash...])
    }
}

/// How many URLs of a log are understood, and which options are not.
struct TranslationReport {
    private var understood = 0
    private var all = 0
    /// The options that stood in the way.
    private var obstacles: [String: Reason] = [:]
    /// The options that have no effect.
    private var ignored: [String: Reason] = [:]

    /// How often an option was met, and why it counts, the first time.
    private struct Reason {
        var text: String
        var count = 0
    }

    /// The number of options that are named.
    private static let mostNamed = 10

    /// The target of a request that a line of a log is about; nil where there is none.
    static func target(in line: String) -> String? {
        if let target = TranslateCommand.target(of: line) { return target }
        // As Apache, nginx and their like have it: "GET /path HTTP/1.1".
        for quoted in line.split(separator: "\"", omittingEmptySubsequences: false) {
            let words = quoted.split(separator: " ")
            guard words.count == 3, ["GET", "HEAD", "POST"].contains(words[0]), words[2].hasPrefix("HTTP/")
            else {
                continue
            }
            return TranslateCommand.target(of: words[1])
        }
        return nil
    }

    /// Counts a URL.
    mutating func count(_ result: Result<Translation, TranslationError>) {
        all += 1
        switch result {
        case .success(let translation):
            understood += 1
            for note in Set(translation.ignored) {
                let option = note.split(separator: ":").first.map(String.init) ?? note
                ignored[option, default: Reason(text: note)].count += 1
            }
        case .failure(let error):
            let option = error.option.isEmpty ? error.reason : error.option
            obstacles[option, default: Reason(text: error.explanation)].count += 1
        }
    }

    /// The counts, and the most frequent options with what is wrong with the first of each.
    var text: String {
        guard all > 0 else { return "no URL found" }
        var lines = ["\(understood) of \(all) URLs are understood"]
        lines += Self.lines("not understood", obstacles)
        lines += Self.lines("understood, but without effect", ignored)
        return lines.joined(separator: "\n")
    }

    private static func lines(_ title: String, _ reasons: [String: Reason]) -> [String] {
        guard !reasons.isEmpty else { return [] }
        let ranked = reasons.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        let rest = ranked.count > mostNamed ? ["  … and \(ranked.count - mostNamed) more"] : []
        return ["\(title):"] + ranked.prefix(mostNamed).map { "  \($0.value.count) × \($0.value.text)" }
            + rest
    }
}

extension TranslationError {
    /// The option and what is wrong with it.
    var explanation: String { option.isEmpty ? reason : "\(option): \(reason)" }
}

extension String {
    /// Without the line's end.
    fileprivate var trimmed: String { String(prefix { !$0.isNewline }) }
}
