// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Imaging

/// `imageproxyd transforms`: prints every operation with its parameters.
struct TransformsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transforms",
        abstract: "Prints every operation with its parameters, as JSON or as a table.")

    @Flag(help: "Print the table of docs/transforms.md.")
    var markdown = false

    func run() throws {
        print(markdown ? TransformPipeline.referenceTable : TransformsPage.text)
    }
}
