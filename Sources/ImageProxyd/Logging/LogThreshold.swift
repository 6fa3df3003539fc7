// SPDX-License-Identifier: Apache-2.0

import Logging
import ProxyCore
import Synchronization

/// The least severe messages that are written, for all loggers at once; a reload can change it. Safe from any thread.
final class LogThreshold: Sendable {
    private let level: Mutex<Logger.Level>

    init(_ level: LogConfiguration.Level) {
        self.level = Mutex(Logger.Level(level))
    }

    /// The current level.
    var value: Logger.Level { level.withLock { $0 } }

    /// Changes the level.
    func set(_ level: LogConfiguration.Level) {
        self.level.withLock { $0 = Logger.Level(level) }
    }
}
