// SPDX-License-Identifier: Apache-2.0

/// Has each source fetched by the loader that its origin rule names.
public struct RoutedLoader: ImageLoading {
    private let http: any ImageLoading
    private let files: any ImageLoading

    /// Marries the loaders.
    public init(http: any ImageLoading, files: any ImageLoading) {
        self.http = http
        self.files = files
    }

    /// Fetches by one of them.
    public func load(
        _ request: OriginRequest, into receiver: any OriginReceiving
    ) async throws(LoadError) -> LoadSummary {
        try await (request.rule?.root == nil ? http : files).load(request, into: receiver)
    }
}
