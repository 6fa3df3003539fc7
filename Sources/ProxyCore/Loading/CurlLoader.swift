// SPDX-License-Identifier: Apache-2.0

import Origins
import Primitives
import Synchronization
package import URLs

/// Fetches from origins with libcurl, on its own thread (SDWebImage's downloader).
///
/// Fetches share and reuse connections, and use HTTP/2 where an origin offers it. Every hop of a fetch is
/// checked again: its scheme and host as a source URL, its URL by the redirect policy, its port and each
/// address that libcurl connects to by the address policy. No proxy, cookie, netrc or alternative service of
/// the environment is used. Safe from any task. Releasing the last reference stops the loader without
/// waiting; `stop` waits.
package final class CurlLoader: ImageLoading {
    /// Why a loader cannot be set up.
    package enum SetupError: Error, Sendable, Hashable {
        /// A configured field's name or value cannot be sent, or is the loader's own; carries the name.
        case invalidField(String)
        /// libcurl cannot be initialised.
        case libraryUnavailable
        /// The thread cannot be created; carries the error of pthread_create(3).
        case thread(Int32)
    }

    private let inbox: LoaderInbox
    private let counters = LoaderCounters()
    private let keys: AWSKeyProviders
    private let thread = LoaderThread()
    private let lastJob = Atomic<UInt64>(0)
    private let clocks: LoaderClocks

    /// Starts the loader's thread.
    ///
    /// - Parameters:
    ///   - redirectPolicy: whether a redirect's target is allowed as a source; called on the loader's thread,
    ///     must not block.
    ///   - clocks: those of the system by default.
    package init(
        configuration: FetchConfiguration, addresses: AddressPolicy,
        clocks: LoaderClocks = LoaderClocks(),
        redirectPolicy: @escaping @Sendable (SourceURL) -> Bool = { _ in true }
    ) throws(SetupError) {
        self.clocks = clocks
        keys = AWSKeyProviders(
            proxy: configuration.proxy, counters: counters, clock: { clocks.wall().seconds })
        let settings = try LoaderSettings(configuration: configuration, addresses: addresses, clocks: clocks)
        guard let set = CurlHandleSet(idleConnections: settings.idleConnections) else {
            throw .libraryUnavailable
        }
        counters.bound(by: configuration)
        let inbox = LoaderInbox(waker: set.waker, maxStarts: settings.maxStarts)
        self.inbox = inbox
        let box = TransferBox(set)
        try thread.run { [counters] in
            guard let set = box.take() else { return }
            CurlMulti(
                set: set, inbox: inbox, counters: counters, settings: settings, isAllowed: redirectPolicy
            ).run()
        }
    }

    deinit {
        _ = inbox.post(.stop)
        thread.detach()
    }

    // MARK: - Fetching

    /// Fetches by libcurl; waits for a slot first.
    package func load(
        _ request: OriginRequest, into receiver: any OriginReceiving
    ) async throws(LoadError) -> LoadSummary {
        guard let source = request.rule?.credentials.signature?.keys else {
            return try await load(request, signedWith: nil, into: receiver)
        }
        let provider = keys.provider(of: source)
        let keys = try await provider.current()
        do throws(LoadError) {
            return try await load(request, signedWith: keys, into: receiver)
        } catch {
            // S3 answers 400 where a token has expired.
            if case .status(let status, _) = error, [400, 401, 403].contains(status) {
                provider.reportRefusal(of: keys)
            }
            throw error
        }
    }

    private func load(
        _ request: OriginRequest, signedWith keys: AWSKeys?, into receiver: any OriginReceiving
    ) async throws(LoadError) -> LoadSummary {
        let id = lastJob.add(1, ordering: .relaxed).newValue
        let job = LoadJob(id: id, request: request, keys: keys, receiver: receiver)
        // Weak, because a request that is stored would keep the loader's thread alive; a change that is lost
        // came too late.
        request.waiters.observe { [weak inbox] in _ = inbox?.post(.change(id, $0)) }
        defer { request.waiters.observe(nil) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in submit(job, continuation) }
        } onCancel: {
            job.isCancelled.store(true, ordering: .releasing)
            // Ignored if the loader has stopped: then the job has ended, too.
            _ = inbox.post(.cancel(id))
        }
        return try result.get()
    }

    private func submit(_ job: LoadJob, _ continuation: LoadJob.Continuation) {
        switch inbox.post(.start(job, continuation)) {
        case .taken: return
        case .full: continuation.resume(returning: .failure(.queueFull))
        case .closed: continuation.resume(returning: .failure(.cancelled))
        }
    }

    /// Changes the settings of fetches that begin later; a kept connection is checked by them, too.
    ///
    /// `fetch.proxy`, `fetch.http2` and `fetch.via` must not differ from those of the start: kept connections
    /// were made by them.
    /// - Throws: `invalidField`; then nothing changes.
    package func adopt(
        _ configuration: FetchConfiguration, addresses: AddressPolicy
    ) throws(SetupError) {
        let settings = try LoaderSettings(configuration: configuration, addresses: addresses, clocks: clocks)
        counters.bound(by: configuration)
        inbox.resize(maxStarts: settings.maxStarts)
        // Ignored if the loader has stopped: then no fetch begins.
        _ = inbox.post(.adopt(settings))
    }

    // MARK: - Watching and stopping

    /// The loader's counters and current state.
    package var statistics: LoaderStatistics { counters.snapshot }

    /// Waits until the loader's thread answers; false if it has stopped.
    package func ping() async -> Bool {
        await withCheckedContinuation { continuation in
            if inbox.post(.ping(continuation)) != .taken { continuation.resume(returning: false) }
        }
    }

    /// Aborts every fetch (`cancelled`), and waits until the thread has ended.
    package func stop() async {
        _ = inbox.post(.stop)
        await thread.join()
    }
}

/// Transfers the set from the thread that created it to the one that uses it.
private final class TransferBox: Sendable {
    private let content: Mutex<CurlHandleSet?>

    init(_ set: sending CurlHandleSet) {
        content = Mutex(set)
    }

    func take() -> CurlHandleSet? {
        content.withLock { content in
            defer { content = nil }
            return content
        }
    }
}
