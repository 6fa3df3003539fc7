// SPDX-License-Identifier: Apache-2.0

/// A parsed pipeline: operations in the order they are applied.
///
/// Two pipelines are equal if their canonical spellings are. Encoded as that spelling.
package struct TransformPipeline: Sendable {
    /// The operations in their order, without `orient`, which is always applied first.
    package let operations: [any ImageTransforming]
    /// The orientation that is applied before the first operation.
    package let orientation: Orient?
    /// The canonical spelling (SDWebImage's `transformerKey`): equal for any two spellings of one pipeline.
    package let transformerKey: String

    /// The empty pipeline, which does not change the picture.
    package init() {
        operations = []
        orientation = nil
        transformerKey = ""
    }

    /// Parses a transform text such as `resize:300x200:cover,round:20`, already percent-decoded.
    ///
    /// - Parameters:
    ///   - text: the value of `transform`.
    ///   - limit: the maximum number of operations; beyond it `tooManyOperations`.
    package init(
        parsing text: String, operationLimit limit: Int = RenderLimits().operations
    ) throws(TransformError) {
        try self.init(TransformParser(text).operations(atMost: limit))
    }

    /// A pipeline with a single `resize` to exactly this size.
    static func fitting(_ size: PixelSize) throws(ImagingError) -> TransformPipeline {
        do {
            return try TransformPipeline(parsing: "resize:\(size.width)x\(size.height):fill:enlarge=1")
        } catch {
            throw .tooManyPixels("the result would be \(size)")
        }
    }

    private init(_ all: [any ImageTransforming]) throws(TransformError) {
        let orientations = all.compactMap { $0 as? Orient }
        if orientations.count > 1 {
            throw TransformError(.repeated, operation: Orient.name, at: orientations[1].arguments.position)
        }
        // Orientation by the metadata is the default, so it has no spelling.
        orientation = orientations.first.flatMap { $0.isAutomatic ? nil : $0 }
        operations = all.filter { !($0 is Orient) }
        transformerKey = ([orientation].compactMap { $0?.transformerKey } + operations.map(\.transformerKey))
            .joined(separator: ",")
    }

    /// Whether there is nothing to apply.
    package var isEmpty: Bool { transformerKey.isEmpty }

    /// The configured images that `watermark` names, without duplicates.
    package var watermarkNames: [String] {
        var names: [String] = []
        for case let watermark as Watermark in operations where !names.contains(watermark.imageName) {
            names.append(watermark.imageName)
        }
        return names
    }

    /// Where the first `watermark` with a configured image stands in the text; 0 if there is none.
    package func position(ofWatermark name: String) -> Int {
        operations.lazy.compactMap { $0 as? Watermark }.first { $0.imageName == name }?.arguments.position
            ?? 0
    }

    /// Whether a text can be a value in a pipeline.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(TransformParser.isAllowed)
    }

    /// Multiplies every length in pixels (sizes, offsets, radius, border, sigma) by `dpr`.
    ///
    /// - Throws: `outOfRange` without a position if a product exceeds its parameter's range.
    package func scaled(by dpr: Double) throws(TransformError) -> TransformPipeline {
        guard dpr != 1 else { return self }
        var scaled: [any ImageTransforming] = orientation.map { [$0] } ?? []
        for operation in operations {
            scaled.append(try type(of: operation).init(arguments: operation.arguments.scaled(by: dpr)))
        }
        return try TransformPipeline(scaled)
    }
}

extension TransformPipeline: Hashable {
    /// Compares the canonical spellings.
    package static func == (left: TransformPipeline, right: TransformPipeline) -> Bool {
        left.transformerKey == right.transformerKey
    }

    /// Hashes the canonical spelling.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(transformerKey)
    }
}

extension TransformPipeline: Codable {
    /// Decodes the canonical spelling; throws `TransformError` if it is invalid.
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard !text.isEmpty else {
            self.init()
            return
        }
        // The number of operations was limited when the text was first parsed.
        try self.init(parsing: text, operationLimit: .max)
    }

    /// Encodes the canonical spelling.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(transformerKey)
    }
}
