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
            "auto", \.auto, each: "each once, formats of \(writable.joined(separator: ", "))",
            """
            Formats chosen automatically when the client accepts them explicitly; ties go to the earlier one.
            """
        ) { formats in
            formats.indices.filter { formats[..<$0].contains(formats[$0]) }.map { formats[$0] }
                + formats.filter { !$0.row.isWritable }
        }
        Setting(
            "avifMaxPixels", \.avifMaxPixels, in: 0...10_000_000_000,
            """
            AVIF is chosen automatically only for fewer output pixels than this.
            """)
        Setting(
            "decode", \.decode, allowed: "at least one format",
            """
            Formats that may be decoded; others are 415 `unsupported_format`.
            """
        ) { !$0.isEmpty }
        Setting(
            "svgPassThrough", \.svgPassThrough,
            """
            Whether an SVG without any transform is sent unchanged, once `decode` names SVG; otherwise its pixels are.
            """)
    }

    private static let writable = ImageFormat.allCases.filter { $0.row.isWritable }.map(\.rawValue)
}

extension ImageFormat: SettingValue {
    /// Reads a format's name; `jpg` is `jpeg`, as in the parameter `format`.
    package init(json: JSONValue) throws(SettingMismatch) {
        self = try Self.choice(json == .string("jpg") ? .string("jpeg") : json)
    }
}

/// Default encoder qualities. Configuration: `quality`.
package struct QualityConfiguration: SettingGroup {
    package var jpeg = 80
    package var webp = 79
    package var avif = 63
    package var jxl = 77

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("Default encoder qualities.", reload: .takes) {
        Setting("jpeg", \.jpeg, in: 1...100, "JPEG.")
        Setting("webp", \.webp, in: 1...100, "WebP.")
        Setting("avif", \.avif, in: 1...100, "AVIF.")
        Setting("jxl", \.jxl, in: 1...100, "JPEG XL.")
    }

    /// The same, by format.
    package var byFormat: [ImageFormat: Int] { [.jpeg: jpeg, .webp: webp, .avif: avif, .jxl: jxl] }
}
