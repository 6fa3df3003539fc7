// SPDX-License-Identifier: Apache-2.0

import URLs

/// The checked settings of fetches; all of them can change while the loader runs.
struct LoaderSettings: Sendable {
    /// Limits and times.
    let configuration: FetchConfiguration
    /// The addresses that may be connected to.
    let addresses: AddressPolicy
    /// The fields for origins.
    let fields: RequestFields
    /// The clocks by which a response's age is computed, and deadlines pass.
    let clocks: LoaderClocks

    /// Checks the configured fields.
    init(
        configuration: FetchConfiguration, addresses: AddressPolicy, clocks: LoaderClocks
    ) throws(CurlLoader.SetupError) {
        self.configuration = configuration
        self.addresses = addresses
        self.clocks = clocks
        fields = try RequestFields(configuration: configuration)
    }

    /// The maximum number of fetches in the inbox.
    var maxStarts: Int { configuration.maxConcurrent + configuration.queue }
    /// The number of idle connections that are kept open.
    var idleConnections: Int { max(1, configuration.maxConcurrent) }
}
