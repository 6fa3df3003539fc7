// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Logging
import Observability
import Primitives
import Synchronization

/// Reads the settings again at a reload, and applies what can change without a restart.
///
/// All or nothing: if any setting is invalid, all old ones stay in force. Blocking, and not to be called by
/// two threads at once.
final class Reloader: Sendable {
    private let components: Components
    private let currentRoutes: CurrentRoutes
    private let running: Mutex<ProxyConfiguration>
    private let source: SettingsSource
    private let service: ServiceManager
    private let loopsHaveTurned: @Sendable () async -> Void
    private let logger: Logger
    private let lastWasApplied = Atomic(true)

    init(
        components: Components, currentRoutes: CurrentRoutes, configuration: ProxyConfiguration,
        source: SettingsSource,
        service: ServiceManager, loopsHaveTurned: @escaping @Sendable () async -> Void
    ) {
        self.loopsHaveTurned = loopsHaveTurned
        self.components = components
        self.currentRoutes = currentRoutes
        running = Mutex(configuration)
        self.source = source
        self.service = service
        logger = components.logger
        components.metrics.lastReloadSuccessful.observe { [weak self] in
            self?.lastWasApplied.load(ordering: .relaxed) == false ? 0 : 1
        }
    }

    /// Reads, checks and swaps; reports the result to the log and the service manager.
    func reload() {
        let start = SystemTime.nanoseconds(of: CLOCK_MONOTONIC) / 1_000
        service.report(.reloading(monotonicMicroseconds: start), to: logger)
        var status = "serving"
        do {
            logChanges(try apply())
            count(.applied)
        } catch {
            count(.refused)
            logger.error("reload refused, the settings stay as they were: \(error)")
            status = "serving; reload refused: \(error)"
        }
        service.report(.ready(status: status), to: logger)
    }

    private func count(_ outcome: Metric.Reload) {
        components.metrics.reloads.increment(outcome)
        lastWasApplied.store(outcome == .applied, ordering: .relaxed)
    }

    private func apply() throws -> ReloadPlan {
        let (read, files, _) = try source.read()
        let plan = ReloadPlan(running: running.withLock { $0 }, read: read)
        // The settings are valid by themselves; what will run is a mixture of them and of those that need a
        // restart.
        let issues = plan.next.problems()
        guard issues.isEmpty else { throw ConfigurationError(issues: issues) }
        let routes = try components.routes(plan.next, files, succeeding: currentRoutes.value)
        try components.adopt(plan.next, files)
        // Nothing after this line can fail.
        currentRoutes.replace(by: routes, loopsHaveTurned)
        // Their readers come back under the new settings, which may have another token.
        components.events.end()
        running.withLock { $0 = plan.next }
        return plan
    }

    private func logChanges(_ plan: ReloadPlan) {
        let changes = plan.applied.isEmpty ? "no setting changed" : plan.applied.joined(separator: ", ")
        logger.notice("reloaded: \(changes); keys, credentials and pictures were read again")
        guard !plan.waiting.isEmpty else { return }
        logger.warning("these need a restart: \(plan.waiting.joined(separator: ", "))")
    }
}
