// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Which formats are read and chosen. Configuration: `formats`.
package struct FormatsConfiguration: SettingGroup {
    package var auto = [ImageFormat.avif, .webp]
    package var avifMaxPixels = 2_000_000
    package var decode = [ImageFormat.jpeg, .png, .webp, .gif, .avif, .heic]
    package var svgPassThrough = false

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("Formats that are read and chosen.", reload: .takes) {
        Setting(
            "auto", \.auto.written,
            each: "each once, formats of \(WritableFormat.choices.joined(separator: ", "))",
            """
            Formats chosen automatically when the client accepts them explicitly; ties go to the earlier one. `jxl` only
            where `decode` names it, too.
            """
        ) { formats in
            formats.indices.filter { formats[..<$0].contains(formats[$0]) }.map { formats[$0] }
        }
        Setting(
            "avifMaxPixels", \.avifMaxPixels, in: 0...10_000_000_000,
            "AVIF is chosen automatically only for fewer output pixels than this.")
        Setting(
            "decode", \.decode, allowed: "at least one format",
            "Formats that may be decoded; others are 415 `unsupported_format`."
        ) { !$0.isEmpty }
        Setting(
            "svgPassThrough", \.svgPassThrough,
            """
            Whether an SVG without any transform is sent unchanged; otherwise its pixels are. `true` only where `decode`
            names SVG.
            """)
    }
}

extension ImageFormat: SettingValue {
    /// Reads a format's name, or an alias, as in the parameter `format`.
    package init(json: JSONValue) throws(SettingMismatch) {
        if case .string(let name) = json, let format = ImageFormat(named: name) {
            self = format
        } else {
            self = try Self.choice(json)
        }
    }
}

/// A format that the daemon writes.
package struct WritableFormat: SettingValue {
    fileprivate let format: ImageFormat
    package static let choices = ImageFormat.allCases.filter { $0.traits.isWritable }.map(\.rawValue)
    package var json: JSONValue { format.json }

    fileprivate init(_ format: ImageFormat) { self.format = format }

    package init(json: JSONValue) throws(SettingMismatch) {
        // Ignored: which formats there are to read.
        guard let format = try? ImageFormat(json: json), format.traits.isWritable else {
            throw SettingMismatch("expected one of " + Self.choices.joined(separator: ", "))
        }
        self.format = format
    }
}

extension [ImageFormat] {
    /// The list as a setting of formats that are written.
    var written: [WritableFormat] {
        get { map { WritableFormat($0) } }
        set { self = newValue.map(\.format) }
    }
}

extension ImageFormat? {
    /// The format as a setting that is written.
    package var written: WritableFormat? {
        get { map { WritableFormat($0) } }
        set { self = newValue?.format }
    }
}
