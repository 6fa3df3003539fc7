// SPDX-License-Identifier: Apache-2.0

import Glibc
import Primitives

/// One run of the command: reads the input, and what it names, and has the daemon prefetch it.
struct PrefetchRun {
    private let daemon: AdminClient
    private let screen: PrefetchScreen
    /// Those of the options; those of a JSON object are added.
    private var members: [JSONValue.Member]
    private var client: PrefetchClient?
    private var started: (PrefetchClient) -> Void = { _ in }

    init(_ daemon: AdminClient, members: [JSONValue.Member], _ screen: PrefetchScreen) {
        self.daemon = daemon
        self.members = members
        self.screen = screen
    }

    /// Reads an input to its end, and waits for the order's end.
    /// - Parameter started: called with what talks to the daemon, before anything is sent.
    mutating func read(
        _ input: String, _ settings: SettingsOptions, started: @escaping (PrefetchClient) -> Void
    ) async throws -> PrefetchProgress {
        self.started = started
        let isURL = input.hasPrefix("http://") || input.hasPrefix("https://")
        var walk = SitemapWalk(start: isURL ? input : nil)
        if !isURL { try readFile(input, &walk) }
        var loader: SitemapLoader?
        while let url = walk.takeNext() {
            if loader == nil { loader = try SitemapLoader(try settings.load()) }
            guard let descriptor = try await loader?.load(url) else { break }
            defer { close(descriptor) }
            try read(descriptor, named: url, &walk)
        }
        await loader?.stop()
        for (reason, count) in walk.skipped.sorted(by: { $0.key < $1.key }) {
            HostProcess.reportError("\(count) sitemaps were not read: \(reason)")
        }
        guard let client, client.count > 0 else {
            throw PrefetchInput.Problem(description: "\(input): it has no URL of a picture")
        }
        return try client.finish()
    }

    private mutating func readFile(_ path: String, _ walk: inout SitemapWalk) throws {
        guard path != "-" else { return try read(STDIN_FILENO, named: "standard input", &walk) }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw PrefetchInput.Problem(description: "\(path): \(systemErrorText(errno))")
        }
        defer { close(descriptor) }
        try read(descriptor, named: path, &walk)
    }

    private mutating func read(_ descriptor: CInt, named name: String, _ walk: inout SitemapWalk) throws {
        var input = PrefetchInput(name: name)
        try input.read(descriptor) { item in
            switch item {
            case .sitemap(let url): walk.add(url)
            case .members(let others): try add(others, of: name)
            case .url(let url): try connected().add(url)
            case .pause: try client?.sendNow()
            }
        }
        // The next sitemap may take a while.
        try client?.sendNow()
    }

    private mutating func add(_ others: [JSONValue.Member], of name: String) throws {
        if let twice = others.first(where: { other in members.contains { $0.name == other.name } }) {
            throw PrefetchInput.Problem(
                description: "\(name): '\(twice.name.excerpt)' is there, and among the options, too")
        }
        members += others
    }

    private mutating func connected() -> PrefetchClient {
        if let client { return client }
        let client = PrefetchClient(daemon, members: members) { [screen] in screen.show($0, isComplete: $1) }
        self.client = client
        started(client)
        return client
    }
}
