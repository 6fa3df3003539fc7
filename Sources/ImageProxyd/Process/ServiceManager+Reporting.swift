// SPDX-License-Identifier: Apache-2.0

internal import Logging

extension ServiceManager {
    /// Sends a message by `notify`. If that fails, the daemon continues to serve, and logs the failure.
    func report(to logger: Logger, _ notify: () throws(Failure) -> Bool) {
        do throws(Failure) {
            _ = try notify()
        } catch {
            logger.error("the service manager was not notified: \(error)")
        }
    }
}
