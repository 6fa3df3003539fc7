// SPDX-License-Identifier: Apache-2.0

// Tests are built for debugging alone: a release has no `@testable`.
#if DEBUG

    import Primitives
    import TestSupport

    @testable import ImageTestSupport
    @testable import Imaging
    @testable import Rendering

    /// What differs between an answer and the recorded one.
    struct DialectComparison {
        let dialectCase: DialectCase
        let answer: RawHTTPClient.Answer
        let origin: DialectOrigin
        private(set) var differences: [String] = []

        init(_ dialectCase: DialectCase, _ answer: RawHTTPClient.Answer, _ origin: DialectOrigin) throws {
            self.dialectCase = dialectCase
            self.answer = answer
            self.origin = origin
            let expected = dialectCase.expected
            guard expected["any_error"] != .bool(true) else {
                require(answer.status >= 400, "status \(answer.status)")
                return
            }
            let status = expected["status"]?.whole ?? 200
            require(
                answer.status == status,
                "status \(answer.status), not \(status): \(answer.text.prefix(300))")
            guard differences.isEmpty, status < 400 else { return }
            compareFields(expected)
            if let name = expected["same_as"]?.text {
                require(answer.body == DialectOrigin.source(name), "other bytes")
            }
            if let start = expected["body_start"]?.text {
                require(answer.text.hasPrefix(start), "body \(answer.text.prefix(40))")
            }
            if let most = expected["max_bytes"]?.whole {
                require(answer.body.count <= most, "\(answer.body.count) bytes")
            }
            if let facts = expected["json"] { try compareFacts(facts) }
            if expected["width"] != nil, expected["json"] == nil { try comparePicture(expected) }
        }

        private mutating func require(_ isMet: Bool, _ difference: String) {
            if !isMet { differences.append(difference) }
        }

        private mutating func compareFields(_ expected: JSONValue) {
            let type = answer["Content-Type"]?.split(separator: ";").first.map(String.init) ?? ""
            if let wanted = expected["type"]?.text, !dialectCase.ignores("type") {
                require(type == wanted, "type \(type), not \(wanted)")
            }
            if let wanted = expected["location"]?.text {
                require(
                    answer["Location"] == origin.filling(wanted), "location \(answer["Location"] ?? "none")")
            }
            if let wanted = expected["vary"]?.text {
                require(
                    answer["Vary"]?.lowercased().contains(wanted.lowercased()) == true, "no Vary: \(wanted)")
            }
            if let wanted = expected["disposition"]?.text {
                let found = answer["Content-Disposition"] ?? "none"
                require(found.contains(wanted), "disposition \(found), not \(wanted)")
            }
        }

        private mutating func compareFacts(_ facts: JSONValue) throws {
            var parser = JSONParser(answer.body)
            let found = try parser.parse()
            guard case .object(let members) = facts else { return }
            for member in members {
                require(
                    found[member.name] == member.value,
                    "\(member.name) is \(found[member.name]?.compact ?? "absent")")
            }
        }

        private mutating func comparePicture(_ expected: JSONValue) throws {
            let source = try openedSource(answer.body)
            guard let format = ImageFormat(sniffing: answer.body) else {
                return require(false, "no picture")
            }
            VipsLibrary.unblock(format)
            let header = try VipsCoder.header(of: source, as: format)
            compareSize(header.size, expected)
            if let frames = expected["frames"]?.whole {
                require(header.frames == frames, "\(header.frames) frames, not \(frames)")
            }
            guard let digits = expected["thumb"]?.text, !dialectCase.ignores("thumb") else { return }
            let found = try Thumbnail(TestPicture(decoding: answer.body, frames: .primary))
            let (mean, worst) = found.distance(to: Thumbnail(digits: digits))
            let most = dialectCase.tolerance
            require(
                mean <= most.mean && worst <= most.worst, "thumbnail is off by \(mean), \(worst) in one cell")
        }

        private mutating func compareSize(_ size: PixelSize, _ expected: JSONValue) {
            guard let width = expected["width"]?.whole, let height = expected["height"]?.whole,
                !dialectCase.ignores("size")
            else { return }
            var sizes = [(width, height)]
            if case .array(let others)? = expected["also"] {
                for case .array(let sides) in others where sides.count == 2 {
                    sizes.append((sides[0].whole ?? 0, sides[1].whole ?? 0))
                }
            }
            let slack = expected["slack"]?.whole ?? 0
            let fits = sizes.contains { abs($0.0 - size.width) <= slack && abs($0.1 - size.height) <= slack }
            require(fits, "\(size), not \(width)x\(height)")
        }
    }

    /// 16 × 16 cells, colours multiplied by alpha.
    struct Thumbnail {
        /// Four samples of each cell, 0–255.
        private let samples: [Double]

        private static let side = 16

        /// The recorded form: RGBA as hexadecimal digits.
        init(digits: String) {
            let characters = Array(digits.utf8)
            let bytes = stride(from: 0, to: characters.count - 1, by: 2).compactMap {
                UInt8(String(decoding: characters[$0...$0 + 1], as: UTF8.self), radix: 16).map(Double.init)
            }
            samples = bytes.indices.map { $0 % 4 == 3 ? bytes[$0] : bytes[$0] * bytes[$0 / 4 * 4 + 3] / 255 }
        }

        /// The means of the pixels whose centres are in each cell.
        init(_ picture: TestPicture) {
            var samples: [Double] = []
            for row in 0..<Self.side {
                for column in 0..<Self.side {
                    samples += Self.mean(
                        of: picture, Self.range(column, picture.width), Self.range(row, picture.height))
                }
            }
            self.samples = samples
        }

        private static func range(_ cell: Int, _ length: Int) -> Range<Int> {
            let scale = Double(length) / Double(side)
            let centre = (Double(cell) + 0.5) * scale
            let reach = max(scale, 1) / 2
            let start = min(max(0, Int((centre - reach + 0.5).rounded(.down))), length - 1)
            return start..<max(start + 1, min(length, Int((centre + reach + 0.5).rounded(.down))))
        }

        private static func mean(of picture: TestPicture, _ columns: Range<Int>, _ rows: Range<Int>)
            -> [Double]
        {
            var sums = [0.0, 0.0, 0.0, 0.0]
            for y in rows {
                for x in columns {
                    let pixel = picture[x, y].map(Double.init)
                    let alpha = pixel.count % 2 == 0 ? pixel[pixel.count - 1] : 255
                    for band in 0..<3 {
                        sums[band] += (pixel.count < 3 ? pixel[0] : pixel[band]) * alpha / 255
                    }
                    sums[3] += alpha
                }
            }
            return sums.map { $0 / Double(columns.count * rows.count) }
        }

        /// The mean difference of all cells, and that of the worst one.
        func distance(to other: Thumbnail) -> (mean: Double, worst: Double) {
            let starts = stride(from: 0, to: min(samples.count, other.samples.count), by: 4)
            let cells: [Double] = starts.map { start in
                let differences = (start..<start + 4).map { (index: Int) -> Double in
                    abs(samples[index] - other.samples[index])
                }
                return differences.reduce(0, +) / 4
            }
            return (cells.reduce(0, +) / Double(max(1, cells.count)), cells.max() ?? 0)
        }
    }

#endif
