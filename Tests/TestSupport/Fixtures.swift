// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Files that tests work on.
public enum Fixtures {
    /// A JPEG of 1200 × 800 pixels.
    public static let photo = read("photo.jpg")

    /// HEIC of 64 × 48 pixels: red, green / blue, white; and the same with alpha that grows downwards.
    public static let heic = (plain: read("images/quarters.heic"), clear: read("images/alpha.heic"))

    /// HEIC of two pictures: the first of 64 × 64 pixels, the other of 240 × 120.
    public static let twoSizes = read("images/two.heic")

    /// AVIF grids of four tiles of 64 × 64 pixels, red, green / blue, white: whole, cut to 100 × 90, said to be of 250 × 200,
    /// and with a last tile that is a quarter of what it says.
    public static let grids = (
        whole: read("images/grid.avif"), cut: read("images/grid-cut.avif"),
        unfilled: read("images/grid-unfilled.avif"), lying: read("images/grid-lying.avif")
    )

    /// AVIF of 64 × 64 pixels, grey of limited range: from black at the top to white.
    public static let limitedGrey = read("images/grey-limited.avif")

    /// AVIF of 64 × 64 pixels, red, green / blue, white, with a band of (128, 64, 200) between them, of limited range: green,
    /// blue and red in place of YCbCr; and with transparency of 235, of 126 from column 16 on, of 16 from 32 on to 39.
    public static let limitedColors = (
        gbr: read("images/gbr-limited.avif"), alpha: read("images/alpha-limited.avif")
    )

    /// AVIF of 64 × 48 pixels, red, green / blue, white, opaque on the left quarter and else half transparent: turned, and
    /// turned and mirrored, which is not said of its transparency; and with colours multiplied by alpha.
    public static let alphas = (
        unturned: read("images/alpha-unturned.avif"), unmirrored: read("images/alpha-unmirrored.avif"),
        premultiplied: read("images/alpha-premultiplied.avif")
    )

    /// AVIF of 30,000 × 1 pixels, all (9, 99, 200).
    public static let wide = read("images/wide.avif")

    /// JPEG XL of 24 × 16 pixels that is red, green and blue one after the other: bare, and in boxes.
    public static let animatedJXL = [read("images/animated.jxl"), read("images/animated-boxes.jxl")]

    /// The same picture with a comment: equal pixels, other bytes (T.81 §B.2.4.5).
    public static func photo(number: Int) -> [UInt8] {
        let comment = Array("\(number)".utf8)
        return photo[..<2] + [0xFF, 0xFE, 0, UInt8(comment.count + 2)] + comment + photo[2...]
    }

    /// The path of a file in `Tests/Fixtures`.
    public static func path(_ name: String) -> String {
        let folder = "\(#filePath)".split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return folder.joined(separator: "/") + "/Fixtures/\(name)"
    }

    /// All bytes of a file in `Tests/Fixtures`.
    public static func read(_ name: String) -> [UInt8] {
        guard let file = fopen(path(name), "r") else { fatalError("no fixture \(name)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }
}
