// SPDX-License-Identifier: Apache-2.0

/// `speed:2` — plays an animation faster or slower.
struct Speed: ImageTransforming {
    static let name = "speed"
    static let summary = "Plays an animation faster or slower; a still stays as it is."
    static let parameters = [factor]

    private static let factor = TransformParameter(
        "factor", .number(FixedNumber(thousandths: 10)...100), .required,
        "2 is twice as fast, 0.5 half as fast; no frame gets shorter than 20 ms.")

    /// In milliseconds; browsers show frames with a shorter delay for 100 ms.
    private static let shortest = 20
    private static let longest = 655_350

    var cost: PixelCost { PixelCost(work: 0) }

    let arguments: TransformArguments

    /// In milliseconds: players treat a delay up to `hurried` as unset, and use `played` instead.
    private static let hurried = 10
    private static let played = 100

    func schedule(_ playback: inout Playback) {
        let factor = arguments.number(Self.factor) ?? 1
        guard factor != 1 else { return }
        playback.delays = playback.delays.map { stored in
            let delay = stored <= Self.hurried ? Self.played : stored
            let wanted = Int((Double(delay) / factor).rounded())
            return max(min(delay, Self.shortest), min(wanted, Self.longest))
        }
    }
}
