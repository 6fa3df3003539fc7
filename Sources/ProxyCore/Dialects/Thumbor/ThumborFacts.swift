// SPDX-License-Identifier: Apache-2.0

import Primitives

/// What `meta` answers: the picture's size after all, and how crop, resize and flips come to theirs.
struct ThumborFacts {
    private let plan: ThumborPlan
    private var options: ThumborPath { plan.options }
    private let source: (width: Double, height: Double)
    private var width: Double
    private var height: Double
    private var operations: [JSONValue] = []
    /// What `resize` has made.
    private var target: (width: Double, height: Double)?

    /// - Parameters:
    ///   - width: of the picture, upright if thumbor turns it.
    ///   - height: likewise.
    init(_ plan: ThumborPlan, width: Int, height: Int) {
        self.plan = plan
        source = (Double(width), Double(height))
        (self.width, self.height) = source
        crop()
        resize()
        if options.flipsHorizontally {
            operations.append(["type": .string("flip_horizontally")])
        }
        if options.flipsVertically {
            operations.append(["type": .string("flip_vertically")])
        }
        for filter in plan.filters { apply(filter) }
    }

    /// In thumbor's form.
    var json: JSONValue {
        let whole: JSONValue = ["width": .integer(Int(width)), "height": .integer(Int(height))]
        let resized = target.map { ["width": .number($0.width), "height": .number($0.height)] as JSONValue }
        return [
            "thumbor": [
                "source": whole, "operations": .array(operations), "target": resized ?? whole,
            ]
        ]
    }

    private mutating func addCrop(_ left: Double, _ top: Double, _ right: Double, _ bottom: Double) {
        operations.append([
            "type": .string("crop"), "left": .integer(Int(left)), "top": .integer(Int(top)),
            "right": .integer(Int(right)), "bottom": .integer(Int(bottom)),
        ])
    }

    private mutating func crop() {
        guard let crop = options.crop, crop.allSatisfy({ $0 == $0.rounded() }) else { return }
        let (left, top) = (min(crop[0], width), min(crop[1], height))
        let (right, bottom) = (min(crop[2], width), min(crop[3], height))
        guard left < right, top < bottom else { return }
        addCrop(left, top, right, bottom)
        (width, height) = (right - left, bottom - top)
    }

    /// The wanted sides.
    private var wanted: (width: Double?, height: Double?) {
        let sides = (side(options.width, width, source.width), side(options.height, height, source.height))
        guard options.isAdaptive, let across = sides.0, let down = sides.1,
            (width - height) * (across - down) < 0
        else { return sides }
        return (down, across)
    }

    private func side(_ side: ThumborPath.Side?, _ own: Double, _ most: Double) -> Double? {
        switch side {
        case .pixels(let count): plan.has("no_upscale") ? min(Double(count), most) : Double(count)
        case .original: own
        case nil: nil
        }
    }

    private mutating func resize() {
        let wanted = wanted
        guard wanted.width != nil || wanted.height != nil else { return }
        let across = wanted.width ?? max(1, Self.even((wanted.height ?? 0) * width / height))
        let down = wanted.height ?? max(1, Self.even((wanted.width ?? 0) * height / width))
        switch options.mode {
        case .fit where across >= width && down >= height: return
        case .fit: scale(across, down, byWidth: width * down >= height * across)
        case .full: scale(across, down, byWidth: width * down <= height * across)
        case .cover:
            if !options.isStretched, !plan.has("stretch") { cover(across, down) }
            if across != width || down != height { setSize(across, down) }
        }
    }

    /// Makes one side the wanted one; the other follows, rounded half up.
    private mutating func scale(_ across: Double, _ down: Double, byWidth: Bool) {
        if byWidth {
            setSize(across, (height * across / width + 0.50001).rounded(.down))
        } else {
            setSize((width * down / height + 0.50001).rounded(.down), down)
        }
    }

    /// The part that has the wanted proportions; where they agree to two decimals all of it is squeezed.
    private mutating func cover(_ across: Double, _ down: Double) {
        guard Self.even(width / height * 100) != Self.even(across / down * 100) else { return }
        let isTall = across / width > down / height
        let cut =
            isTall
            ? (width: width, height: Self.even(width * down / across))
            : (width: (across * height / down).rounded(.up), height: height)
        let middle =
            plan.focal.map { ($0.x.rounded(.down), $0.y.rounded(.down)) }
            ?? (
                Self.place(options.horizontal, "left", "right", width),
                Self.place(options.vertical, "top", "bottom", height)
            )
        let left = Self.even(min(max(middle.0 - cut.width / 2, 0), width - cut.width))
        let top = Self.even(min(max(middle.1 - cut.height / 2, 0), height - cut.height))
        let (right, bottom) = (min(left + cut.width, width), min(top + cut.height, height))
        addCrop(left, top, right, bottom)
        (width, height) = (right - left, bottom - top)
    }

    private static func place(_ name: String?, _ first: String, _ last: String, _ length: Double) -> Double {
        name == first ? 0 : name == last ? length : (length / 2).rounded(.down)
    }

    private static func even(_ number: Double) -> Double { number.rounded(.toNearestOrEven) }

    private mutating func setSize(_ width: Double, _ height: Double) {
        (self.width, self.height) = (max(1, width), max(1, height))
        target = (self.width, self.height)
        operations.append([
            "type": .string("resize"), "width": .number(self.width), "height": .number(self.height),
        ])
    }

    /// The filters that change the size, which `operations` do not name.
    private mutating func apply(_ filter: ThumborFilter) {
        let number = filter.arguments.first.flatMap(NumberText.decimal) ?? 0
        switch filter.name {
        case "rotate" where Int(number) % 180 != 0 && Int(number) % 90 == 0: (width, height) = (height, width)
        case "proportion" where number > 0 && number <= 1 && width * number >= 1 && height * number >= 1:
            (width, height) = ((width * number).rounded(.down), (height * number).rounded(.down))
        case "fill" where options.mode != .full:
            (width, height) = (wanted.width ?? width, wanted.height ?? height)
        case "upscale" where options.mode == .fit:
            guard let across = wanted.width, let down = wanted.height, width < across, height < down else {
                return
            }
            let factor = min(across / width, down / height)
            (width, height) = (
                (width * factor + 1e-6).rounded(.down), (height * factor + 1e-6).rounded(.down)
            )
        default: break
        }
    }
}
