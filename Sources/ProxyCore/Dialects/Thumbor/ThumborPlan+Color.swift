// SPDX-License-Identifier: Apache-2.0

extension ThumborPlan {
    /// The values of a byte.
    private static let levels = 255.0

    /// `blur(RADIUS[,SIGMA])`: thumbor's Gaussian ends at the radius, so ours has that one's standard deviation.
    mutating func addBlur(_ values: [String]) -> Bool {
        let numbers = values.compactMap(NumberText.decimal)
        guard (1...2).contains(numbers.count), numbers.count == values.count else { return false }
        let radius = Int(min(max(0, numbers[0]), 150))
        let sigma = numbers.count > 1 && numbers[1] != 0 ? abs(numbers[1]) : Double(radius)
        guard radius > 0, sigma > 0 else { return true }
        var (sum, spread) = (0.0, 0.0)
        for step in -radius...radius {
            let square = Double(step * step)
            let weight = Self.exponential(-square / (2 * sigma * sigma))
            sum += weight
            spread += weight * square
        }
        let deviation = (spread / sum).squareRoot()
        if deviation >= 0.1 { operations.append("blur:\(NumberText.text(min(deviation, 250)))") }
        return true
    }

    /// eˣ for x ≤ 0, without the C library: halved until the series converges quickly, then squared again.
    private static func exponential(_ x: Double) -> Double {
        guard x > -700 else { return 0 }
        var (halvings, small) = (0, x)
        while small < -0.5 {
            small /= 2
            halvings += 1
        }
        var (term, sum) = (1.0, 1.0)
        for step in 1...16 {
            term *= small / Double(step)
            sum += term
        }
        for _ in 0..<halvings { sum *= sum }
        return sum
    }

    /// `brightness(-100…100)` adds that share of the levels.
    mutating func addBrightness(_ values: [String]) -> Bool {
        guard let percent = values.first.flatMap(NumberText.decimal) else { return false }
        if percent != 0 { addLevels([percent, percent, percent]) }
        return true
    }

    /// `contrast(-100…100)`: the factor around middle grey, as measured.
    mutating func addContrast(_ values: [String]) -> Bool {
        guard let percent = values.first.flatMap(NumberText.decimal) else { return false }
        let share = 1 + percent / 100
        operations.append("contrast:\(NumberText.text(min(share * share, 10)))")
        return true
    }

    /// Adds shares of the levels, in percent, to red, green and blue.
    mutating func addLevels(_ percents: [Double]) {
        let levels = percents.map { NumberText.text(min(max(-100, $0), 100) / 100 * Self.levels) }
        operations.append("channels:add_red=\(levels[0]):add_green=\(levels[1]):add_blue=\(levels[2])")
    }

    /// `colorize(R%,G%,B%,COLOUR)`: so much of the colour over each channel.
    mutating func addColorize(_ values: [String]) throws(TranslationError) -> Bool {
        guard values.count == 4, let shares = Self.numbers(Array(values[..<3]), count: 3) else {
            return false
        }
        guard values[3].utf8.count == 6, let color = UInt32(values[3], radix: 16) else {
            throw TranslationError(.invalid, "colorize", "the colour has six hexadecimal digits")
        }
        let weights = shares.map { min(max(0, $0), 100) / 100 }
        let channels = [16, 8, 0].map { Double(color >> UInt32($0) & 255) }
        let factors = weights.map { NumberText.text(1 - $0) }
        let levels = zip(weights, channels).map { NumberText.text($0 * $1) }
        operations.append(
            "channels:\(factors[0]):\(factors[1]):\(factors[2]):\(levels[0]):\(levels[1]):\(levels[2])")
        return true
    }

    /// `sharpen(AMOUNT,RADIUS,LUMINANCE)`; the third, which sharpens brightness alone, can hardly be seen.
    ///
    /// As measured: thumbor's mask is as wide as a Gaussian of 3.5 times the radius, weaker than the amount says,
    /// and vanishes for large radii.
    mutating func addSharpen(_ values: [String]) -> Bool {
        guard values.count == 3, let amount = NumberText.decimal(values[0]),
            let radius = NumberText.decimal(values[1]), amount >= 0, radius >= 0
        else { return false }
        let sigma = min(max(0.1, 3.5 * radius), 250)
        let strength = 0.65 * min(amount, 10) * min(1, max(0, (6 - radius) / 4))
        guard strength > 0 else { return true }
        operations.append("sharpen:\(NumberText.text(sigma)):\(NumberText.text(strength))")
        return true
    }

    /// `convolution(A;B;…,COLUMNS,NORMALISE)`.
    mutating func addConvolution(_ values: [String]) -> Bool {
        guard (2...3).contains(values.count), let columns = ThumborPath.count(values[1]), columns > 0
        else { return false }
        let matrix = values[0].split(separator: ";").compactMap(NumberText.decimal)
        guard matrix.count.isMultiple(of: columns), !matrix.isEmpty else { return false }
        let sum = matrix.reduce(0, +)
        let isNormalised = values.count < 3 || ["true", "1"].contains(values[2].lowercased())
        let scale = isNormalised && sum != 0 ? ":\(NumberText.text(sum))" : ""
        operations.append(
            "convolve:\(matrix.map(NumberText.text).joined(separator: "_")):\(columns)\(scale)")
        return true
    }

    /// `curve([(x,y),…],[…],[…],[…])`: for all channels, red, green and blue.
    mutating func addCurve(_ values: [String]) -> Bool {
        let curves = values.compactMap(Self.points)
        guard values.count == 4, curves.count == 4 else { return false }
        operations.append("curve:" + curves.joined(separator: ":"))
        return true
    }

    /// `[(0,50),(255,200)]` as `0_50+255_200`.
    private static func points(_ text: String) -> String? {
        guard text.hasPrefix("[("), text.hasSuffix(")]") else { return nil }
        let points = text.dropFirst(2).dropLast(2).split(separator: "),(").map { point in
            point.split(separator: ",").compactMap(ThumborPath.count)
        }
        guard !points.isEmpty, points.allSatisfy({ $0.count == 2 && $0.allSatisfy { $0 <= 255 } }) else {
            return nil
        }
        return points.map { "\($0[0])_\($0[1])" }.joined(separator: "+")
    }
}
