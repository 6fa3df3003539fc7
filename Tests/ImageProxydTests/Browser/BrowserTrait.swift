// SPDX-License-Identifier: Apache-2.0

import Testing

/// Gives the tests of a suite one browser, and a daemon that takes uploads.
struct BrowserTrait: SuiteTrait, TestScoping {
    @TaskLocal static var browser: WebDriver?
    @TaskLocal static var daemon: PlaygroundDaemon?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let browser = try await WebDriver()
        let daemon = try await PlaygroundDaemon()
        try await Self.$browser.withValue(browser) {
            try await Self.$daemon.withValue(daemon) { try await function() }
        }
        try await browser.quit()
    }
}

extension Trait where Self == BrowserTrait {
    /// One browser and one daemon for all tests of the suite.
    static var oneBrowser: BrowserTrait { BrowserTrait() }
}
