// SPDX-License-Identifier: Apache-2.0

/// `delay:100` — sets how long frames are shown.
struct Delay: ImageTransforming {
    static let name = "delay"
    static let summary =
        "Shows every frame of an animation equally long, or each as long as it says; a still stays as it is."
    static let parameters = [milliseconds, others]

    private static let range = 1...655_350
    private static let milliseconds = TransformParameter(
        "milliseconds", .whole(range), .required, "How long each frame is shown.")
    private static let others = TransformParameter(
        "others", .text(limit: 2_048), .absent,
        "How long those behind the first are shown, joined by +; the last value is for all that follow.")

    var cost: PixelCost { PixelCost(work: 0) }

    let arguments: TransformArguments
    private let delays: [Int]

    init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        let others = (arguments.text(Self.others) ?? "").split(separator: "+").map { Int($0) ?? 0 }
        guard others.allSatisfy(Self.range.contains) else {
            throw arguments.error(.malformed(expected: "milliseconds, joined by +"), Self.others)
        }
        delays = [Int(arguments.number(Self.milliseconds) ?? 100)] + others
    }

    func schedule(_ playback: inout Playback) {
        playback.delays = playback.delays.indices.map { delays[min($0, delays.count - 1)] }
    }
}
