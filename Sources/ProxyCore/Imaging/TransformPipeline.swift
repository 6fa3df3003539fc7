// SPDX-License-Identifier: Apache-2.0

/// A parsed pipeline: operations in the order they are applied.
///
/// Two pipelines are equal when their canonical spellings are. Encoded as that spelling.
public struct TransformPipeline: Sendable {
    /// The operations that follow one another; `orient` is not among them, since it always comes first.
    let operations: [any ImageTransforming]
    /// How the source is turned before the first operation.
    let orientation: Orient?
    /// The canonical spelling (SDWebImage's `transformerKey`): equal for any two spellings of one pipeline.
    public let transformerKey: String

    /// The empty pipeline, which leaves the picture as it is.
    public init() {
        operations = []
        orientation = nil
        transformerKey = ""
    }

    /// Reads a transform text such as `resize:300x200:cover,round:20`, already percent-decoded.
    ///
    /// - Parameter limit: most operations; beyond it `tooManyOperations`.
    public init(
        parsing text: String, operationLimit limit: Int = RenderLimits().operations
    ) throws(TransformError) {
        try self.init(TransformParser(text).operations(atMost: limit))
    }

    /// A pipeline that resizes to exactly this, and does nothing else.
    static func fitting(_ size: PixelSize) throws(ImagingError) -> TransformPipeline {
        do {
            return try TransformPipeline(parsing: "resize:\(size.width)x\(size.height):fill:enlarge=1")
        } catch {
            throw .tooManyPixels
        }
    }

    private init(_ all: [any ImageTransforming]) throws(TransformError) {
        let orientations = all.compactMap { $0 as? Orient }
        if orientations.count > 1 {
            throw TransformError(.repeated, operation: Orient.name, at: orientations[1].arguments.position)
        }
        // Turning by the metadata is what happens anyway, so it has no spelling.
        orientation = orientations.first.flatMap { $0.isAutomatic ? nil : $0 }
        operations = all.filter { !($0 is Orient) }
        transformerKey = ([orientation].compactMap { $0?.transformerKey } + operations.map(\.transformerKey))
            .joined(separator: ",")
    }

    /// Whether there is nothing to apply.
    public var isEmpty: Bool { transformerKey.isEmpty }

    /// The configured images that `watermark` names, each once.
    public var watermarkNames: [String] {
        var names: [String] = []
        for case let watermark as Watermark in operations where !names.contains(watermark.imageName) {
            names.append(watermark.imageName)
        }
        return names
    }

    /// Whether a text can be a value in a pipeline.
    public static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(TransformParser.isAllowed)
    }

    /// Multiplies every length that is in pixels (sizes, offsets, radius, border, sigma) by `dpr`.
    ///
    /// - Throws: `outOfRange` without a position when a product leaves its parameter's range.
    public func scaled(by dpr: Double) throws(TransformError) -> TransformPipeline {
        guard dpr != 1 else { return self }
        var scaled: [any ImageTransforming] = orientation.map { [$0] } ?? []
        for operation in operations {
            scaled.append(try type(of: operation).init(operation.arguments.scaled(by: dpr)))
        }
        return try TransformPipeline(scaled)
    }
}

extension TransformPipeline: Hashable {
    /// Compares the canonical spellings.
    public static func == (left: TransformPipeline, right: TransformPipeline) -> Bool {
        left.transformerKey == right.transformerKey
    }

    /// Hashes the canonical spelling.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(transformerKey)
    }
}

extension TransformPipeline: Codable {
    /// Reads the canonical spelling; throws `TransformError` when it is none.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard !text.isEmpty else {
            self.init()
            return
        }
        // The number of operations was limited when the text was first read.
        try self.init(parsing: text, operationLimit: .max)
    }

    /// Writes the canonical spelling.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(transformerKey)
    }
}
