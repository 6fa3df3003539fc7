// SPDX-License-Identifier: Apache-2.0

import Glibc

/// BlurHash: a picture's lowest frequencies in linear light, in about thirty characters.
enum BlurHash {
    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)
    private static let base = 83
    /// Decoders divide the stored number plus one by this to get the largest amplitude; an early encoder in C
    /// used half of it.
    private static let largestWaves = 166.0
    /// The number of steps of one channel of a component.
    private static let steps = 19

    /// Encodes a picture; transparent parts are composed on white.
    ///
    /// - Parameters:
    ///   - columns: components across, 1–9.
    ///   - rows: components down, 1–9.
    static func text(of picture: SmallPicture, columns: Int = 4, rows: Int = 3) -> String {
        let light = light(of: picture)
        var components: [[Double]] = []
        for row in 0..<rows {
            for column in 0..<columns { components.append(component(column, row, picture, light)) }
        }
        let waves = components.dropFirst()
        let largest = waves.joined().map(abs).max() ?? 0
        let step = waves.isEmpty ? 0 : min(82, max(0, Int((largest * largestWaves - 0.5).rounded(.down))))
        let scale = waves.isEmpty ? 1 : Double(step + 1) / largestWaves
        var digits = spelled(columns - 1 + (rows - 1) * 9, length: 1) + spelled(step, length: 1)
        digits += spelled(components[0].reduce(0) { $0 << 8 | encoded($1) }, length: 4)
        for wave in waves {
            digits += spelled(wave.reduce(0) { $0 * steps + quantised($1 / scale) }, length: 2)
        }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func light(of picture: SmallPicture) -> [Double] {
        let table = (0...255).map { ToneCurve.linear(Double($0) / 255) }
        var light: [Double] = []
        light.reserveCapacity(picture.width * picture.height * 3)
        for pixel in stride(from: 0, to: picture.samples.count, by: 4) {
            let alpha = Int(picture.samples[pixel + 3])
            for band in 0..<3 {
                // On white, in the encoded colours, as a browser would show it.
                let level = (Int(picture.samples[pixel + band]) * alpha + 255 * (255 - alpha) + 127) / 255
                light.append(table[level])
            }
        }
        return light
    }

    /// The amplitude of one wave in each channel.
    private static func component(
        _ column: Int, _ row: Int, _ picture: SmallPicture, _ light: [Double]
    ) -> [Double] {
        let across = (0..<picture.width).map { cos(.pi * Double(column * $0) / Double(picture.width)) }
        var sums = [0.0, 0.0, 0.0]
        for y in 0..<picture.height {
            let down = cos(.pi * Double(row * y) / Double(picture.height))
            for x in 0..<picture.width {
                let place = (y * picture.width + x) * 3
                for band in 0..<3 { sums[band] += across[x] * down * light[place + band] }
            }
        }
        let weight = (column == 0 && row == 0 ? 1.0 : 2.0) / Double(picture.width * picture.height)
        return sums.map { $0 * weight }
    }

    private static func encoded(_ linear: Double) -> Int {
        Int(ToneCurve.encoded(min(1, max(0, linear))) * 255 + 0.5)
    }

    private static func quantised(_ value: Double) -> Int {
        let bent = abs(value).squareRoot() * (value < 0 ? -1 : 1)
        return min(steps - 1, max(0, Int((bent * 9 + 9.5).rounded(.down))))
    }

    private static func spelled(_ value: Int, length: Int) -> [UInt8] {
        var rest = value
        var digits: [UInt8] = []
        for _ in 0..<length {
            digits.append(alphabet[rest % base])
            rest /= base
        }
        return digits.reversed()
    }
}
