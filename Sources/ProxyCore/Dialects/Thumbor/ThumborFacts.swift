// SPDX-License-Identifier: Apache-2.0

import Primitives

/// What `meta` answers: the picture's size before the filters, and how it comes to that.
struct ThumborFacts {
    private let options: ThumborPath
    private var width: Double
    private var height: Double
    private var operations: [JSONValue] = []
    private var isResized = false

    /// - Parameters:
    ///   - width: of the picture, upright if thumbor turns it.
    ///   - height: likewise.
    init(_ options: ThumborPath, width: Int, height: Int) {
        self.options = options
        self.width = Double(width)
        self.height = Double(height)
        crop()
        resize()
        if options.flipsHorizontally {
            operations.append(.object([.init(name: "type", value: .string("flip_horizontally"))]))
        }
        if options.flipsVertically {
            operations.append(.object([.init(name: "type", value: .string("flip_vertically"))]))
        }
    }

    /// In thumbor's form.
    var json: JSONValue {
        let whole: [JSONValue.Member] = [
            .init(name: "width", value: .integer(Int(width))),
            .init(name: "height", value: .integer(Int(height))),
        ]
        let target: [JSONValue.Member] =
            isResized
            ? [.init(name: "width", value: .number(width)), .init(name: "height", value: .number(height))]
            : whole
        return .object([
            .init(
                name: "thumbor",
                value: .object([
                    .init(name: "source", value: .object(whole)),
                    .init(name: "operations", value: .array(operations)),
                    .init(name: "target", value: .object(target)),
                ]))
        ])
    }

    private mutating func addCrop(_ left: Double, _ top: Double, _ right: Double, _ bottom: Double) {
        let sides = [("left", left), ("top", top), ("right", right), ("bottom", bottom)]
        operations.append(
            .object(
                [.init(name: "type", value: .string("crop"))]
                    + sides.map { .init(name: $0.0, value: .integer(Int($0.1))) }))
    }

    private mutating func crop() {
        guard let crop = options.crop, crop.allSatisfy({ $0 == $0.rounded() }) else { return }
        let (left, top) = (min(crop[0], width), min(crop[1], height))
        let (right, bottom) = (min(crop[2], width), min(crop[3], height))
        guard left < right, top < bottom else { return }
        addCrop(left, top, right, bottom)
        (width, height) = (right - left, bottom - top)
    }

    private mutating func resize() {
        guard options.width != nil || options.height != nil else { return }
        var wanted = (width: side(options.width, width), height: side(options.height, height))
        if options.isAdaptive, let across = wanted.width, let down = wanted.height,
            (width - height) * (across - down) < 0
        {
            wanted = (down, across)
        }
        let factors = [wanted.width.map { $0 / width }, wanted.height.map { $0 / height }].compactMap { $0 }
        let factor = (options.mode == .fit ? factors.min() : factors.max()) ?? 1
        switch options.mode {
        case .fit where factor >= 1: return
        case .fit, .full: setSize((width * factor).rounded(), (height * factor).rounded())
        case .cover:
            let across = wanted.width ?? (width * factor).rounded()
            let down = wanted.height ?? (height * factor).rounded()
            cover(across, down)
            setSize(across, down)
        }
    }

    private func side(_ side: ThumborPath.Side?, _ own: Double) -> Double? {
        switch side {
        case .pixels(let count): Double(count)
        case .original: own
        case nil: nil
        }
    }

    /// The part that has the wanted proportions; where they agree to two decimals all of it is squeezed.
    private mutating func cover(_ across: Double, _ down: Double) {
        guard (width / height * 100).rounded() != (across / down * 100).rounded() else { return }
        let isTall = across / width > down / height
        let cut =
            isTall
            ? (width: width, height: (width * down / across).rounded())
            : (width: (across * height / down).rounded(.up), height: height)
        let left = ((width - cut.width) * share(options.horizontal, "left", "right")).rounded(.down)
        let top = ((height - cut.height) * share(options.vertical, "top", "bottom")).rounded(.down)
        addCrop(left, top, left + cut.width, top + cut.height)
    }

    private func share(_ name: String?, _ first: String, _ last: String) -> Double {
        name == first ? 0 : name == last ? 1 : 0.5
    }

    private mutating func setSize(_ width: Double, _ height: Double) {
        (self.width, self.height, isResized) = (max(1, width), max(1, height), true)
        operations.append(
            .object([
                .init(name: "type", value: .string("resize")),
                .init(name: "width", value: .number(self.width)),
                .init(name: "height", value: .number(self.height)),
            ]))
    }
}
