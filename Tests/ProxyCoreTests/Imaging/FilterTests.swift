// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Filters, against arithmetic on each pixel")
struct FilterTests {
    /// Colours from the whole cube, each alpha several times.
    private static let colors = TestPicture(32, 16, bands: 4) { x, y in
        [UInt8(x * 8), UInt8(y * 17), UInt8((x * 37 + y * 11) % 256), y < 8 ? 255 : UInt8(40 + x * 6)]
    }

    private typealias Color = [Double]

    /// Renders `text` and compares each pixel with the result of `reference` for its colour, all values 0–1.
    private func expect(
        _ text: String, within tolerance: Double = 1.01,
        sourceLocation: SourceLocation = #_sourceLocation,
        equals reference: (Color) -> Color
    ) async throws {
        let source = Self.colors
        let found = try await rendered(source.encoded(as: .png), text).picture
        try #require(found.width == source.width && found.bands == 4)
        for y in 0..<source.height {
            for x in 0..<source.width {
                let wanted = reference(source[x, y].prefix(3).map { Double($0) / 255 })
                    .map { min(1, max(0, $0)) * 255 }
                let pixel = found[x, y]
                let worst = zip(pixel, wanted).map { abs(Double($0) - $1) }.max() ?? 0
                #expect(
                    worst <= tolerance, "\(text) at \(x),\(y): \(pixel) is not \(wanted)",
                    sourceLocation: sourceLocation)
                #expect(pixel[3] == source[x, y][3], sourceLocation: sourceLocation)
            }
        }
    }

    @Test("brightness multiplies (Filter Effects §9)", arguments: [0, 0.5, 1, 1.7, 10])
    func brightness(amount: Double) async throws {
        try await expect("brightness:\(amount)") { $0.map { $0 * amount } }
    }

    @Test("contrast stretches around the middle (Filter Effects §9)", arguments: [0, 0.5, 1, 2.5])
    func contrast(amount: Double) async throws {
        try await expect("contrast:\(amount)") { $0.map { ($0 - 0.5) * amount + 0.5 } }
    }

    @Test("saturation is the matrix of CSS (Filter Effects §9)", arguments: [0, 0.4, 1, 3])
    func saturation(amount: Double) async throws {
        try await expect("saturation:\(amount)") { color in
            let grey = 0.213 * color[0] + 0.715 * color[1] + 0.072 * color[2]
            return color.map { grey + ($0 - grey) * amount }
        }
    }

    @Test("gamma is a power of the encoded value", arguments: [0.1, 0.5, 1, 2.2, 10])
    func gamma(amount: Double) async throws {
        try await expect("gamma:\(amount)") { $0.map { pow($0, amount) } }
    }

    @Test("exposure multiplies linear light by a power of two", arguments: [-5, -1, 0, 0.5, 5])
    func exposure(stops: Double) async throws {
        try await expect("exposure:\(stops)") { color in
            color.map { value in
                let linear = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
                let light = min(1, linear * pow(2, stops))
                return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
            }
        }
    }

    @Test("hue rotates as in CSS (SVG feColorMatrix, hueRotate)", arguments: [-120, 0, 90, 180, 360])
    func hue(degrees: Double) async throws {
        let c = cos(degrees * .pi / 180)
        let s = sin(degrees * .pi / 180)
        try await expect("hue:\(degrees)") { color in
            let (r, g, b) = (color[0], color[1], color[2])
            return [
                (0.213 + c * 0.787 - s * 0.213) * r + (0.715 - c * 0.715 - s * 0.715) * g
                    + (0.072 - c * 0.072 + s * 0.928) * b,
                (0.213 - c * 0.213 + s * 0.143) * r + (0.715 + c * 0.285 + s * 0.140) * g
                    + (0.072 - c * 0.072 - s * 0.283) * b,
                (0.213 - c * 0.213 - s * 0.787) * r + (0.715 - c * 0.715 + s * 0.715) * g
                    + (0.072 + c * 0.928 + s * 0.072) * b,
            ]
        }
    }

    @Test("grayscale, invert and sepia are the CSS functions, completely and partly", arguments: [0, 0.3, 1])
    func fractions(amount: Double) async throws {
        try await expect("grayscale:\(amount)") { color in
            let grey = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
            return color.map { $0 * (1 - amount) + grey * amount }
        }
        try await expect("invert:\(amount)") { $0.map { amount * (1 - $0) + (1 - amount) * $0 } }
        try await expect("sepia:\(amount)") { color in
            let (r, g, b) = (color[0], color[1], color[2])
            let brown = [
                0.393 * r + 0.769 * g + 0.189 * b, 0.349 * r + 0.686 * g + 0.168 * b,
                0.272 * r + 0.534 * g + 0.131 * b,
            ]
            return zip(color, brown).map { $0 * (1 - amount) + $1 * amount }
        }
    }

    @Test("duotone runs from one colour to the other")
    func duotone() async throws {
        try await expect("duotone:201040:ffd0a0", within: 2) { color in
            let grey = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
            let shadow = [0x20, 0x10, 0x40].map { Double($0) / 255 }
            let highlight = [0xFF, 0xD0, 0xA0].map { Double($0) / 255 }
            return zip(shadow, highlight).map { $0 + ($1 - $0) * grey }
        }
    }

    @Test("duotone in CIELAB ends at its colours, and has their mean lightness between")
    func perceptualDuotone() async throws {
        let ramp = TestPicture(256, 2) { x, _ in [UInt8(x), UInt8(x), UInt8(x)] }

        let picture = try await rendered(ramp.encoded(as: .png), "duotone:000:00f:lab").picture

        // Halfway are L 16.2, a 39.7 and b -54.1.
        for (x, color) in [(0, [0, 0, 0]), (128, [36, 17, 120]), (255, [0, 0, 255])] {
            #expect(zip(picture[x, 0], color).allSatisfy { abs(Int($0) - $1) <= 2 }, "\(x): \(picture[x, 0])")
        }
    }

    @Test("duotone applies the alpha of its colours")
    func transparentDuotone() async throws {
        let ramp = TestPicture(256, 2) { x, _ in [UInt8(x), UInt8(x), UInt8(x)] }

        let picture = try await rendered(ramp.encoded(as: .png), "duotone:f000:f00").picture

        for x in stride(from: 0, to: 256, by: 15) { #expect(abs(Int(picture[x, 0][3]) - x) <= 1) }
    }

    @Test("opacity multiplies alpha and nothing else", arguments: [0, 0.25, 1])
    func opacity(amount: Double) async throws {
        let found = try await rendered(Self.colors.encoded(as: .png), "opacity:\(amount)").picture

        for (x, y) in [(0, 0), (31, 3), (7, 9), (20, 15)] {
            let source = Self.colors[x, y]
            #expect(found[x, y].prefix(3) == source.prefix(3))
            #expect(abs(Double(found[x, y][3]) - Double(source[3]) * amount) <= 0.51)
        }
        let opaque = try await rendered(TestPicture.ramps(4, 4).encoded(as: .png), "opacity:0.5").picture
        #expect(opaque.bands == 4 && opaque[1, 1][3] == 128)
    }

    @Test("background is visible where the picture is transparent")
    func background() async throws {
        let found = try await rendered(Self.colors.encoded(as: .png), "background:30c060").picture

        #expect(found.bands == 3)
        for (x, y) in [(0, 0), (31, 3), (7, 9), (20, 15)] {
            let source = Self.colors[x, y]
            let alpha = Double(source[3]) / 255
            let wanted = zip(source, [0x30, 0xC0, 0x60]).map { Double($0) * alpha + Double($1) * (1 - alpha) }
            #expect(zip(found[x, y], wanted).allSatisfy { abs(Double($0) - $1) <= 1.01 })
        }
    }

    @Test("A background with alpha fills transparent pixels with its own alpha")
    func clearBackground() async throws {
        let source = TestPicture(4, 4, bands: 4) { x, _ in x < 2 ? [200, 0, 0, 255] : [0, 0, 0, 0] }

        let found = try await rendered(source.encoded(as: .png), "background:0000ff80").picture

        #expect(found[0, 0] == [200, 0, 0, 255])
        #expect(found[3, 3] == [0, 0, 255, 128])
    }

    @Test("A coloured background is also drawn below a grey picture")
    func greyOnColor() async throws {
        let grey = TestPicture(4, 4, bands: 2) { x, _ in [90, x < 2 ? 255 : 0] }

        let found = try await rendered(grey.encoded(as: .png), "background:f00").picture

        #expect(found[0, 0] == [90, 90, 90] && found[3, 0] == [255, 0, 0])
    }

    // MARK: - Filters that read neighbouring pixels

    /// A Gaussian blur by its definition, with repeated edge pixels.
    private func blurred(_ row: [Double], sigma: Double) -> [Double] {
        let reach = Int((sigma * 6).rounded(.up))
        let weights = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = weights.reduce(0, +)
        return row.indices.map { x in
            zip(-reach...reach, weights).reduce(0) {
                $0 + row[min(max(x + $1.0, 0), row.count - 1)] * $1.1 / sum
            }
        }
    }

    private static let bars: [Double] = (0..<96).map { x in
        x < 30 ? 40 : x < 50 ? 220 : x == 70 ? 255 : 90
    }
    private static let barPicture = TestPicture(96, 12) { x, _ in
        [UInt8](repeating: UInt8(bars[x]), count: 3)
    }

    @Test("blur is a Gaussian, narrow or wide", arguments: [0.3, 0.5, 1, 2.5, 3, 4.5, 6, 9, 13])
    func blur(sigma: Double) async throws {
        let found = try await rendered(Self.barPicture.encoded(as: .png), "blur:\(sigma)").picture

        let wanted = blurred(Self.bars, sigma: sigma)
        let worst = (0..<96).map { abs(Double(found[$0, 6][1]) - wanted[$0]) }.max() ?? 0
        #expect(worst <= (sigma < 3 ? 1.6 : 2.5), "\(worst)")
    }

    @Test("sharpen adds the difference to a blurred copy", arguments: [(0.5, 1), (2, 0.5), (1, 3)])
    func sharpen(sigma: Double, amount: Double) async throws {
        let found = try await rendered(Self.barPicture.encoded(as: .png), "sharpen:\(sigma):\(amount)")
            .picture

        let soft = blurred(Self.bars, sigma: sigma)
        for x in 0..<96 {
            let wanted = min(255, max(0, Self.bars[x] + amount * (Self.bars[x] - soft[x])))
            #expect(abs(Double(found[x, 6][1]) - wanted) <= 1 + 1.6 * amount, "at \(x)")
        }
    }

    @Test("sharpen does not change alpha, and ignores the colour of transparent pixels")
    func sharpenAlpha() async throws {
        let source = TestPicture(40, 10, bands: 4) { x, _ in x < 20 ? [200, 80, 40, 255] : [0, 255, 0, 0] }

        let found = try await rendered(source.encoded(as: .png), "sharpen:2:2").picture

        for x in 0..<20 {
            #expect(zip(found[x, 5], [200, 80, 40, 255]).allSatisfy { abs(Int($0) - $1) <= 3 })
        }
        for x in 20..<40 { #expect(found[x, 5][3] == 0) }
    }

    @Test("pixelate gives each square its mean, also partial ones at the edges", arguments: [1, 7, 16, 500])
    func pixelate(side: Int) async throws {
        let source = TestPicture(50, 37) { x, y in
            [UInt8(x * 5), UInt8((x * y) % 256), UInt8((x ^ y) * 4 % 256)]
        }

        let found = try await rendered(source.encoded(as: .png), "pixelate:\(side)").picture

        try #require(found.width == 50 && found.height == 37)
        for top in stride(from: 0, to: 37, by: side) {
            for left in stride(from: 0, to: 50, by: side) {
                let places = (top..<min(top + side, 37)).flatMap { y in
                    (left..<min(left + side, 50)).map { (x: $0, y: y) }
                }
                for band in 0..<3 {
                    let sum = places.reduce(0) { $0 + Int(source[$1.x, $1.y][band]) }
                    let mean = Double(sum) / Double(places.count)
                    #expect(
                        places.allSatisfy { abs(Double(found[$0.x, $0.y][band]) - mean) <= 1.6 },
                        "\(left),\(top)")
                }
            }
        }
    }

    @Test("pixelate weights colours by alpha")
    func pixelateAlpha() async throws {
        let source = TestPicture(8, 8, bands: 4) { x, _ in x < 4 ? [240, 0, 0, 255] : [0, 255, 0, 0] }

        let found = try await rendered(source.encoded(as: .png), "pixelate:8").picture

        #expect(zip(found[3, 3], [240, 0, 0, 128]).allSatisfy { abs(Int($0) - $1) <= 2 })
    }

    @Test(
        "Values out of range are refused",
        arguments: [
            "brightness:-1", "brightness:10.1", "gamma:0", "gamma:0.05", "exposure:5.1", "invert:1.1",
            "opacity:2", "hue:361", "saturation", "duotone:000", "sharpen:0", "pixelate:0", "loop:1.5",
            "loop:-1", "delay:0", "delay:100:others=5+x", "delay:100:others=0",
            "speed:0", "sharpen:1:11",
        ])
    func ranges(text: String) {
        #expect(throws: TransformError.self) { try TransformPipeline(parsing: text) }
    }
}
