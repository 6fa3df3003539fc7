// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

/// A loader that may connect to 127.0.0.1, and an origin there.
struct LoaderFixture {
    let origin: FakeOrigin
    let loader: CurlLoader
    let addresses: AddressPolicy
    let configuration: FetchConfiguration
    /// By which fetches take too long, if a test advances it.
    private let time: ManualTime?

    init(
        deniedNetworks: [String] = [], by time: ManualTime? = nil,
        configure: (inout FetchConfiguration) -> Void = { _ in },
        redirectPolicy: @escaping @Sendable (SourceURL) -> Bool = { _ in true }
    ) throws {
        var configuration = FetchConfiguration()
        // A machine that is busy with other tests is slow, not wrong; a test about time sets its own.
        configuration.queueTimeout = .minutes(5)
        configuration.connectTimeout = .minutes(5)
        configuration.firstByteTimeout = .minutes(5)
        configuration.totalTimeout = .minutes(5)
        configuration.lowSpeedTime = .minutes(5)
        configuration.connectionLifetime = .seconds(0)
        configure(&configuration)
        self.configuration = configuration
        var addresses = AddressConfiguration()
        addresses.allowedNetworks = ["127.0.0.1/32"]
        addresses.deniedNetworks = deniedNetworks
        origin = try FakeOrigin()
        self.addresses = try AddressPolicy(configuration: addresses)
        self.time = time
        loader = try CurlLoader(
            configuration: configuration, addresses: self.addresses,
            clocks: time.map { time in LoaderClocks(monotonic: { time.now }) } ?? LoaderClocks(),
            redirectPolicy: redirectPolicy)
    }

    /// A request for a path of the origin.
    func request(_ path: String) throws -> OriginRequest {
        try OriginRequest(url: SourceURL(parsing: origin.url(path)))
    }

    /// Fetches a path of the origin and discards the response.
    @discardableResult
    func load(
        _ path: String, into receiver: CollectingReceiver = CollectingReceiver()
    ) async throws
        -> LoadSummary
    {
        try await loader.load(request(path), into: receiver)
    }

    /// Fetches an absolute URL and discards the response.
    @discardableResult
    func load(absolute url: String) async throws -> LoadSummary {
        try await loader.load(OriginRequest(url: SourceURL(parsing: url)), into: CollectingReceiver())
    }
}

extension LoaderFixture {
    /// Lets time pass by which fetches take too long.
    func pass(_ duration: Duration) async {
        time?.advance(by: duration)
        // Wakes the thread.
        #expect(await loader.ping())
    }
}

/// Fetches by a rule.
extension LoaderFixture {
    /// Fetches a path of the origin with a rule.
    @discardableResult
    func load(
        _ path: String, into receiver: CollectingReceiver = CollectingReceiver(), absolutely: Bool = false,
        by change: (inout OriginRuleConfiguration) -> Void
    ) async throws -> LoadSummary {
        let url = try SourceURL(parsing: absolutely ? path : origin.url(path))
        return try await loader.load(OriginRequest(url: url, rule: Self.rule(change)), into: receiver)
    }

    @discardableResult
    func load(
        absolute url: String, by change: (inout OriginRuleConfiguration) -> Void
    ) async throws -> LoadSummary {
        try await load(url, absolutely: true, by: change)
    }

    /// A rule for all sources.
    static func rule(_ change: (inout OriginRuleConfiguration) -> Void) throws -> OriginRule {
        var configuration = OriginRuleConfiguration()
        configuration.match = ["*://*"]
        change(&configuration)
        return try OriginRule(configuration, at: 0, secrets: SecretReader(credentialsDirectory: nil))
    }
}

/// Expects a fetch to fail with this outcome, whatever its text.
func expectFailure(
    _ outcome: LoadOutcome, sourceLocation: SourceLocation = #_sourceLocation,
    of work: () async throws -> LoadSummary
) async {
    let error = await #expect(throws: LoadError.self, sourceLocation: sourceLocation) { try await work() }
    #expect(error?.outcome == outcome, sourceLocation: sourceLocation)
}

/// The kind of an error whose text does not matter.
enum LoadOutcome {
    case incomplete, unreachable, tlsFailed, redirectForbidden, tooLarge, other
}

extension LoadError {
    var outcome: LoadOutcome {
        switch self {
        case .incomplete: .incomplete
        case .unreachable, .disconnected: .unreachable
        case .tlsFailed: .tlsFailed
        case .redirectForbidden: .redirectForbidden
        case .tooLarge: .tooLarge
        default: .other
        }
    }
}
