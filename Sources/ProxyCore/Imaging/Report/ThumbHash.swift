// SPDX-License-Identifier: Apache-2.0

import Glibc

/// ThumbHash: a picture's lowest frequencies, its aspect ratio and its alpha, in about 25 bytes.
enum ThumbHash {
    /// One channel in frequencies: the mean, the waves scaled to 0–1, and the scale.
    private struct Channel {
        var mean = 0.0
        var waves: [Double] = []
        var scale = 0.0
    }

    /// Encodes a picture.
    static func bytes(of picture: SmallPicture) -> [UInt8] {
        let pixels = picture.width * picture.height
        let (colors, alphas) = fractions(of: picture)
        let alphaSum = alphas.reduce(0, +)
        let hasAlpha = alphaSum < Double(pixels)
        // Brightness has fewer bits if alpha is stored.
        let limit = hasAlpha ? 5.0 : 7.0
        let longer = Double(max(picture.width, picture.height))
        let across = max(1, Int((limit * Double(picture.width) / longer).rounded()))
        let down = max(1, Int((limit * Double(picture.height) / longer).rounded()))
        let planes = planes(of: colors, alphas, alphaSum)
        let size = (picture.width, picture.height)
        let lightness = channel(planes.lightness, size, max(3, across), max(3, down))
        let yellow = channel(planes.yellow, size, 3, 3)
        let red = channel(planes.red, size, 3, 3)
        let alpha = hasAlpha ? channel(alphas, size, 5, 5) : Channel()

        let isLandscape = picture.width > picture.height
        let first =
            whole(63 * lightness.mean) | whole(31.5 + 31.5 * yellow.mean) << 6
            | whole(31.5 + 31.5 * red.mean) << 12 | whole(31 * lightness.scale) << 18
            | (hasAlpha ? 1 << 23 : 0)
        let second =
            (isLandscape ? down : across) | whole(63 * yellow.scale) << 3 | whole(63 * red.scale) << 9
            | (isLandscape ? 1 << 15 : 0)
        var hash = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8(truncatingIfNeeded: $0) }
        if hasAlpha { hash.append(UInt8(whole(15 * alpha.mean) | whole(15 * alpha.scale) << 4)) }
        let waves = lightness.waves + yellow.waves + red.waves + alpha.waves
        for pair in stride(from: 0, to: waves.count, by: 2) {
            let upper = pair + 1 < waves.count ? whole(15 * waves[pair + 1]) << 4 : 0
            hash.append(UInt8(whole(15 * waves[pair]) | upper))
        }
        return hash
    }

    /// Rounds as JavaScript does: half up.
    private static func whole(_ value: Double) -> Int { Int((value + 0.5).rounded(.down)) }

    private static func fractions(of picture: SmallPicture) -> (colors: [Double], alphas: [Double]) {
        let starts = stride(from: 0, to: picture.samples.count, by: 4)
        let colors = starts.flatMap { start in (0..<3).map { Double(picture.samples[start + $0]) / 255 } }
        return (colors, starts.map { Double(picture.samples[$0 + 3]) / 255 })
    }

    /// The brightness, yellow–blue and red–green planes of the picture composed on its own mean colour.
    private static func planes(
        of colors: [Double], _ alphas: [Double], _ alphaSum: Double
    ) -> (lightness: [Double], yellow: [Double], red: [Double]) {
        var mean = [0.0, 0.0, 0.0]
        for (index, alpha) in alphas.enumerated() {
            for band in 0..<3 { mean[band] += alpha * colors[index * 3 + band] }
        }
        if alphaSum > 0 { mean = mean.map { $0 / alphaSum } }
        var lightness: [Double] = []
        var yellow: [Double] = []
        var red: [Double] = []
        for (index, alpha) in alphas.enumerated() {
            let color = (0..<3).map { mean[$0] * (1 - alpha) + alpha * colors[index * 3 + $0] }
            lightness.append((color[0] + color[1] + color[2]) / 3)
            yellow.append((color[0] + color[1]) / 2 - color[2])
            red.append(color[0] - color[1])
        }
        return (lightness, yellow, red)
    }

    /// The cosine transform of one plane for a triangle of `across` × `down` frequencies.
    private static func channel(
        _ plane: [Double], _ size: (width: Int, height: Int), _ across: Int, _ down: Int
    ) -> Channel {
        var channel = Channel()
        for row in 0..<down {
            let vertical = (0..<size.height).map {
                cos(.pi / Double(size.height) * Double(row) * (Double($0) + 0.5))
            }
            var column = 0
            while column * down < across * (down - row) {
                let horizontal = (0..<size.width).map {
                    cos(.pi / Double(size.width) * Double(column) * (Double($0) + 0.5))
                }
                var sum = 0.0
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        sum += plane[y * size.width + x] * horizontal[x] * vertical[y]
                    }
                }
                sum /= Double(size.width * size.height)
                if row == 0, column == 0 { channel.mean = sum } else { channel.waves.append(sum) }
                column += 1
            }
        }
        channel.scale = channel.waves.map(abs).max() ?? 0
        if channel.scale > 0 {
            channel.waves = channel.waves.map { 0.5 + 0.5 / channel.scale * $0 }
        }
        return channel
    }
}
