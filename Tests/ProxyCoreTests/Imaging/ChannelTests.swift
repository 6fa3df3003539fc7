// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Operations on channels, levels and neighbours")
struct ChannelTests {
    private static let colors = TestPicture(32, 16, bands: 4) { x, y in
        [UInt8(x * 8), UInt8(y * 17), UInt8((x * 37 + y * 11) % 256), y < 8 ? 255 : UInt8(40 + x * 6)]
    }

    /// Renders and compares each pixel with what a function makes of its levels.
    private func expect(
        _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
        equals reference: ([Double]) -> [Double]
    ) async throws {
        let found = try await rendered(Self.colors.encoded(as: .png), text).picture
        try #require(found.bands == 4, sourceLocation: sourceLocation)
        for y in 0..<16 {
            for x in 0..<32 {
                let source = Self.colors[x, y].map(Double.init)
                let wanted = reference(Array(source[..<3])).map { min(255, max(0, $0)) } + [source[3]]
                let worst = zip(found[x, y], wanted).map { abs(Double($0) - $1) }.max() ?? 0
                #expect(worst <= 1.01, "\(text) at \(x),\(y)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test("channels multiplies each channel, adds levels, and clips")
    func channels() async throws {
        try await expect("channels:0.5:1:2:add_red=40:add_blue=-100") {
            [$0[0] * 0.5 + 40, $0[1], $0[2] * 2 - 100]
        }
        try await expect("channels") { $0 }
    }

    @Test("A curve runs through its points, straight where there are two, and level beyond them")
    func curves() async throws {
        try await expect("curve:red=0_255+255_0:green=0_50+255_200") {
            [255 - $0[0], 50 + $0[1] * 150 / 255, $0[2]]
        }
        try await expect("curve:51_0+204_255") { $0.map { ($0 - 51) * 255 / 153 } }
        let bent = TestPicture(3, 1) { x, _ in [UInt8([0, 64, 255][x]), 0, 0] }
        let found = try await rendered(bent.encoded(as: .png), "curve:red=0_0+64_100+255_255").picture
        #expect((0..<3).map { found[$0, 0][0] } == [0, 100, 255])
    }

    @Test(
        "Points of a curve are pairs of levels with rising first numbers",
        arguments: ["0_0+0_9", "9_0+3_9", "0", "0_0_0", "0_256", "a_0", ""])
    func wrongCurves(points: String) {
        #expect(throws: TransformError.self) { try TransformPipeline(parsing: "curve:all=\(points)") }
    }

    @Test("equalize gives each level the share of the pixels that are not brighter")
    func equalize() async throws {
        let source = TestPicture(8, 8) { x, y in [UInt8(100 + x), UInt8(y < 4 ? 10 : 20), 77] }

        let found = try await rendered(source.encoded(as: .png), "equalize").picture

        #expect((0..<8).map { found[$0, 0][0] } == [32, 64, 96, 128, 159, 191, 223, 255])
        #expect(found[0, 0][1] == 128 && found[0, 7][1] == 255)
        #expect(found[3, 3][2] == 77)
    }

    @Test("convolve weighs each pixel with its neighbours, edges repeated, and leaves alpha")
    func convolve() async throws {
        let source = TestPicture(5, 3, bands: 4) { x, _ in [UInt8(x * 40), 90, 30, UInt8(200 + x)] }

        let found = try await rendered(source.encoded(as: .png), "convolve:1_2_1:3:4").picture
        #expect((0..<5).map { found[$0, 1][0] } == [10, 40, 80, 120, 150])
        #expect((0..<5).map { found[$0, 1][3] } == [200, 201, 202, 203, 204])

        let edges = try await rendered(source.encoded(as: .png), "convolve:-1_0_1:3").picture
        #expect((0..<5).map { edges[$0, 1][0] } == [40, 80, 80, 80, 40])
    }

    @Test(
        "A matrix has an odd number of rows and columns, all numbers, and is not divided by 0",
        arguments: ["1_2:2", "1_2_3_4_5_6:3", "1_a_1:3", "1_2_1:3:0", "1_1:3", "1_x_1:3", "1_2_3:4"])
    func wrongMatrices(arguments: String) {
        #expect(throws: TransformError.self) { try TransformPipeline(parsing: "convolve:\(arguments)") }
    }

    @Test("noise changes all colours of a pixel alike, the same for the same seed")
    func noise() async throws {
        let grey = try TestPicture(64, 64) { _, _ in [128, 128, 128] }.encoded(as: .png)

        let first = try await rendered(grey, "noise:20").picture
        let again = try await rendered(grey, "noise:20:1").picture
        let other = try await rendered(grey, "noise:20:2").picture

        #expect(first == again && first != other)
        let levels = (0..<64).flatMap { y in (0..<64).map { first[$0, y] } }
        #expect(levels.allSatisfy { $0[0] == $0[1] && $0[1] == $0[2] })
        let differences = levels.map { Double($0[0]) - 128 }
        let mean = differences.reduce(0, +) / 4_096
        let deviation = (differences.reduce(0) { $0 + $1 * $1 } / 4_096).squareRoot()
        #expect(abs(mean) < 2 && abs(deviation - 20) < 2)
    }

    @Test("saturation may move colours from the root of their weighted squares", arguments: [0, 0.2, 2])
    func perceived(amount: Double) async throws {
        try await expect("saturation:\(amount):perceived") { color in
            let squares = zip(color, [0.299, 0.587, 0.114]).reduce(0) { $0 + $1.0 * $1.0 * $1.1 }
            return color.map { squares.squareRoot() * (1 - amount) + $0 * amount }
        }
    }

    @Test("opaque shows the colours under transparency")
    func opaque() async throws {
        let found = try await rendered(Self.colors.encoded(as: .png), "opaque").picture

        #expect(found.bands == 3)
        #expect(found[20, 15] == Array(Self.colors[20, 15].prefix(3)))
    }

    @Test("Corners are ellipses where the height of their radius is given, at most half of each side")
    func ellipses() async throws {
        let source = try TestPicture(80, 40) { _, _ in [200, 100, 50] }.encoded(as: .png)

        let ellipse = try await rendered(source, "round:500:ry=500").picture
        let alpha = { (x: Int, y: Int) in ellipse[x, y][3] }
        // (x - 40)² / 40² + (y - 20)² / 20² = 1
        #expect(alpha(8, 5) == 0 && alpha(12, 7) == 255 && alpha(40, 0) >= 250 && alpha(0, 20) >= 250)
        #expect(alpha(0, 0) == 0 && alpha(79, 39) == 0)

        let tall = try await rendered(source, "round:4:ry=20").picture
        #expect(tall[0, 10][3] < 200 && tall[4, 0][3] > 200 && tall[5, 1][3] == 255)

        let circle = try await rendered(source, "round:10").picture
        let same = try await rendered(source, "round:10:ry=10").picture
        #expect(circle == same)
    }
}
