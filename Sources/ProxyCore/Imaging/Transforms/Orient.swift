// SPDX-License-Identifier: Apache-2.0

/// `orient:6` — sets the source's orientation; applied first by the pipeline, at any position in the text.
package struct Orient: ImageTransforming {
    package static let name = "orient"
    package static let summary =
        "Turns the source by its EXIF orientation, by another, or not at all; always applied first."
    package static let parameters = [value]

    private static let automatic = "auto"
    private static let none = "none"
    private static let value = TransformParameter(
        "value", .word([automatic, none] + (1...8).map(String.init)), .value(.word(automatic)),
        "auto for the metadata's orientation, none for none, or an EXIF orientation 1–8.")

    package let arguments: TransformArguments
    private let word: String

    package init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        guard case .word(let word) = arguments[Self.value] else {
            throw arguments.error(.missing, Self.value)
        }
        self.word = word
    }

    /// Whether the metadata decides, which is the default.
    var isAutomatic: Bool { word == Self.automatic }

    /// Returns the orientation to apply, 1–8, to a source whose metadata says `stored`.
    package func value(for stored: Int) -> Int {
        isAutomatic ? stored : Int(word) ?? 1
    }
}
