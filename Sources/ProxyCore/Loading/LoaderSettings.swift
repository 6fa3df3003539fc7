// SPDX-License-Identifier: Apache-2.0

/// What fetches go by, checked: all of it can be changed while the loader runs.
struct LoaderSettings: Sendable {
    /// Bounds and times.
    let configuration: FetchConfiguration
    /// Whom to connect to.
    let addresses: AddressPolicy
    /// What origins are sent.
    let fields: RequestFields
    /// The time in seconds since 1970, by which the age of an answer is told.
    let clock: @Sendable () -> Int64

    /// Checks the configured fields.
    init(
        configuration: FetchConfiguration, addresses: AddressPolicy, clock: @escaping @Sendable () -> Int64
    ) throws(CurlLoader.SetupError) {
        self.configuration = configuration
        self.addresses = addresses
        self.clock = clock
        fields = try RequestFields(configuration: configuration)
    }

    /// Most fetches that wait to be looked at.
    var maxStarts: Int { configuration.maxConcurrent + configuration.queue }
    /// Connections that are kept open without a fetch.
    var idleConnections: Int { max(1, configuration.maxConcurrent) }
}
