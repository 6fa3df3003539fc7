// SPDX-License-Identifier: Apache-2.0

import Freshness
import Glibc
import Loading
import Pipeline
import Primitives
import Synchronization
import URLs

/// Downloads sitemaps, by the daemon's rules for addresses, into files that have no name.
final class SitemapLoader: Sendable {
    private let loader: CurlLoader

    /// The maximum number of bytes of a download.
    private static let maxBytes = ByteCount.mebibytes(64)

    init(_ configuration: ProxyConfiguration) throws {
        var fetch = configuration.fetch
        fetch.maxBytes = Self.maxBytes
        loader = try CurlLoader(
            configuration: fetch, addresses: AddressPolicy(configuration: configuration.security.addresses))
    }

    /// Downloads a sitemap; the caller closes the descriptor, whose position is the beginning.
    func load(_ url: String) async throws -> CInt {
        let source: SourceURL
        do throws(SourceURLError) {
            source = try SourceURL(parsing: url)
        } catch {
            throw PrefetchInput.Problem(description: "\(url): no URL that can be fetched")
        }
        let file = try DownloadedFile()
        do throws(LoadError) {
            _ = try await loader.load(OriginRequest(url: source), into: file)
        } catch {
            throw PrefetchInput.Problem(description: "\(url): \(Self.text(error))")
        }
        return try file.take()
    }

    private static func text(_ error: LoadError) -> String {
        switch error {
        case .status(let status, _): "the server answered \(status)"
        case .tooLarge: "larger than \(maxBytes)"
        case .addressForbidden(let which): "\(which.text); this command goes by its own settings (--config)"
        default: Self.reason(PipelineError(error))
        }
    }

    private static func reason(_ failure: PipelineError) -> String {
        failure.reason.text.isEmpty ? failure.row.title : failure.reason.text
    }

    /// Ends all downloads.
    func stop() async { await loader.stop() }
}

/// Receives a download.
private final class DownloadedFile: OriginReceiving {
    private let descriptor: Atomic<CInt>

    init() throws {
        let folder = HostProcess.environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var name = Array("\(folder)/imageproxyd.XXXXXX".utf8CString)
        let file = unsafe mkstemp(&name)
        guard file >= 0 else {
            throw PrefetchInput.Problem(
                description: "no file can be made in \(folder): \(systemErrorText(errno))")
        }
        unsafe unlink(name)
        descriptor = Atomic(file)
    }

    deinit {
        let file = descriptor.load(ordering: .relaxed)
        if file >= 0 { close(file) }
    }

    func receive(head: OriginHead) throws(LoadError) {}

    func receive(bytes: UnsafeRawBufferPointer) throws(LoadError) {
        let file = descriptor.load(ordering: .relaxed)
        let end = lseek(file, 0, SEEK_END)
        let code = unsafe FileIO.write(bytes, to: file, at: Int64(end))
        guard code == 0 else { throw .storage("a sitemap can't be written: \(systemErrorText(code))") }
    }

    /// Passes the file on.
    func take() throws -> CInt {
        let file = descriptor.exchange(-1, ordering: .relaxed)
        lseek(file, 0, SEEK_SET)
        return file
    }
}
