// SPDX-License-Identifier: Apache-2.0

import Answering
import ArgumentParser
import Dispatch
import Glibc
import Primitives
import Synchronization

/// `imageproxyd prefetch`: has images made before clients request them, and shows how far that is.
struct PrefetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch",
        abstract: "Has a running daemon make the images of a list or a sitemap.",
        discussion: """
            Asks the admin listener, where the settings say it is. The list has a URL a line; lines that begin with # \
            are comments. It may be JSON, too: a list of URLs, or an object as POST /prefetch takes it. Of a sitemap \
            its <image:loc> are taken, and pages that are pictures by their names; sitemaps that it names are read, too. \
            All may be packed with gzip.
            What is stored and fresh is skipped, so that the same command again goes on where it was ended. Ctrl-C ends \
            the order.
            Exit codes: 0 all images are there, 1 some failed, 64 wrong usage or input, 69 no daemon could be asked, \
            130 ended by Ctrl-C.
            """)

    @Option(name: .customLong("transform"), help: "A pipeline of operations, as in the URL; may be repeated.")
    var transforms: [String] = []

    @Option(name: .customLong("preset"), help: "A preset of the daemon; may be repeated.")
    var presets: [String] = []

    @Option(help: "The format of the images: auto, webp, avif and others.")
    var format: String?

    @Option(help: "What browsers accept, for format=auto; else what most do now.")
    var accept: String?

    @Option(
        name: .customLong("parameter"),
        help: "Another parameter of the images' URLs, such as quality=70; may be repeated.")
    var parameters: [String] = []

    @Option(help: "The most images a second, 0.01 to 10000.")
    var rate: Double?

    @Flag(help: "Print a JSON object a line instead of text.")
    var json = false

    @OptionGroup var admin: AdminOptions

    @Argument(help: "A file, an http or https URL of a sitemap or a list, or - for standard input.")
    var input: String

    mutating func validate() throws {
        if let rate, !(0.01...10_000).contains(rate) { throw ValidationError("--rate must be 0.01 to 10000") }
        for parameter in parameters where !parameter.dropFirst().contains("=") {
            throw ValidationError("--parameter needs NAME=VALUE, not '\(parameter)'")
        }
    }

    func run() async throws {
        let daemon = try admin.client()
        let screen = PrefetchScreen(isJSON: json)
        let clients = Mutex<PrefetchClient?>(nil)
        let interrupt = onInterrupt { [input] in
            screen.end()
            let isCancelled = clients.withLock(\.self)?.cancel() ?? true
            HostProcess.reportError(
                isCancelled
                    ? "cancelled; the same command again goes on: what is stored is skipped (\(input))"
                    : "the daemon did not confirm the end of the order: it may go on")
            Glibc.exit(Exit.interrupted.rawValue)
        }
        defer { interrupt.cancel() }
        do {
            var run = PrefetchRun(daemon, members: members, screen)
            let progress = try await run.read(input, admin.settings) { client in
                clients.withLock { $0 = client }
            }
            try report(progress, screen)
        } catch let error as PrefetchClient.Failure {
            screen.end()
            HostProcess.reportError("\(error)")
            if case .unreachable = error { throw Exit.unavailable }
            throw Exit.usage
        } catch let error as PrefetchInput.Problem {
            screen.end()
            HostProcess.reportError("\(error)")
            // What has been sent so far would go on.
            if let client = clients.withLock(\.self), client.token != nil, client.cancel() {
                HostProcess.reportError("the order was cancelled")
            }
            throw Exit.usage
        }
    }

    /// Exit codes (sysexits(3)); that of Ctrl-C is the shell's for SIGINT.
    private enum Exit {
        static let failed = ExitCode(1)
        static let usage = ExitCode(64)
        static let unavailable = ExitCode(69)
        static let interrupted = ExitCode(130)
    }

    private var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if !transforms.isEmpty { members.append(.init(name: "transforms", value: .strings(transforms))) }
        if !presets.isEmpty { members.append(.init(name: "presets", value: .strings(presets))) }
        if let format { members.append(.init(name: "format", value: .string(format))) }
        if let accept { members.append(.init(name: "accept", value: .string(accept))) }
        if let rate { members.append(.init(name: "rate", value: .number(rate))) }
        return members
            + parameters.map { text in
                let name = text.prefix { $0 != "=" }
                return .init(name: String(name), value: .string(String(text.dropFirst(name.count + 1))))
            }
    }

    private func onInterrupt(_ work: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler {
            // A second one ends the command at once.
            signal(SIGINT, SIG_DFL)
            work()
        }
        source.activate()
        return source
    }

    private func report(_ progress: PrefetchProgress, _ screen: PrefetchScreen) throws {
        screen.finish(progress)
        for reason in json ? [] : progress.reasons {
            let example = reason.examples.first.map { ", such as \($0)" } ?? ""
            HostProcess.reportError(
                TopScreen.printable("\(reason.count) failed: \(reason.title) (\(reason.code))\(example)"))
        }
        switch progress.state {
        case .done where progress.failed == 0: return
        case .done: throw Exit.failed
        case .cancelled:
            HostProcess.reportError("the order was cancelled by another command")
            throw Exit.failed
        case .waiting, .running, .interrupted:
            HostProcess.reportError("the daemon has ended the order; the same command again goes on")
            throw Exit.unavailable
        }
    }
}
