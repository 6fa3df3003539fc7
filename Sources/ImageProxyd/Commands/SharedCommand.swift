// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Loading
import Primitives
import Sharing
import URLs

/// `imageproxyd shared`: the tier that nodes share.
struct SharedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shared",
        abstract: "Tries the bucket that nodes share, and prints its lifecycle rule.",
        subcommands: [Check.self, Lifecycle.self])

    /// `imageproxyd shared check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Writes, reads, lists and deletes a trial object in the bucket of the settings.",
            discussion: "Exits with 1 where one of them fails, and says which and why.")

        @OptionGroup var settings: SettingsOptions

        func run() async throws {
            let (configuration, files, _) = try settings.loadAll()
            guard let place = files.store else {
                throw ValidationError("there is no shared tier: shared.bucket names no bucket")
            }
            let loader = try CurlLoader(
                configuration: SharedTier.loaderConfiguration(configuration.shared, maxEntryBytes: 1 << 20),
                addresses: .unrestricted)
            let store = ObjectStore(configuration.shared, at: place, loader: loader)
            let problem = await store.trial()
            await loader.stop()
            guard let problem else {
                return print("the bucket can be written, read, listed and deleted from")
            }
            print(problem)
            throw ExitCode.failure
        }
    }

    /// `imageproxyd shared lifecycle`.
    struct Lifecycle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lifecycle",
            abstract: "Prints the rule by which the bucket itself deletes what is past shared.maxAge.",
            discussion: """
                The rule has the form that `aws s3api put-bucket-lifecycle-configuration --lifecycle-configuration` takes. \
                With it, shared.sweepInterval can be 0s.
                """)

        @OptionGroup var settings: SettingsOptions

        func run() async throws {
            print(SharedTier.lifecycle(try settings.load().shared).pretty())
        }
    }
}
