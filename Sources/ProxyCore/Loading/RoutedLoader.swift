// SPDX-License-Identifier: Apache-2.0

/// Fetches each source with the loader that its origin rule names.
package struct RoutedLoader: ImageLoading {
    private let http: any ImageLoading
    private let files: any ImageLoading

    /// Creates a loader from the two others.
    package init(http: any ImageLoading, files: any ImageLoading) {
        self.http = http
        self.files = files
    }

    /// Fetches with the rule's loader.
    package func load(
        _ request: OriginRequest, into receiver: any OriginReceiving
    ) async throws(LoadError) -> LoadSummary {
        try await (request.rule?.root == nil ? http : files).load(request, into: receiver)
    }
}
