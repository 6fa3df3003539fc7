// SPDX-License-Identifier: Apache-2.0

internal import Logging

extension ServiceManager {
    /// Sends a message by `notify`. Systemd may be absent or deaf; the daemon serves all the same, and says so in its log.
    func report(to logger: Logger, _ notify: () throws(Failure) -> Bool) {
        do throws(Failure) {
            _ = try notify()
        } catch {
            logger.error("the service manager was not told: \(error)")
        }
    }
}
