// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The command line: `imageproxyd serve` and the other commands.
///
/// Exit codes are those of sysexits(3): 0 success, 1 failure, 64 wrong usage, 78 wrong configuration.
struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "imageproxyd",
        abstract: "Fetches, transforms and caches images over HTTP.",
        version: Version.current,
        subcommands: [
            ServeCommand.self, CheckConfigCommand.self, ConfigCommand.self, VersionCommand.self,
            SignCommand.self, TranslateCommand.self, TransformsCommand.self, DocsCommand.self,
            PrefetchCommand.self, TopCommand.self, ExplainCommand.self, CacheCommand.self, PurgeCommand.self,
            FailedCommand.self, SharedCommand.self,
            TransformCommand.self, InfoCommand.self, CheckSandboxCommand.self, WorkerCommand.self,
        ])
}
