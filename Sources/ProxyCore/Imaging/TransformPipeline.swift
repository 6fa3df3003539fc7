// SPDX-License-Identifier: Apache-2.0

/// A parsed pipeline: operations in the order they are applied. (Skeleton: the imaging room fills it.)
public struct TransformPipeline: Sendable, Hashable, Codable {
    /// The canonical spelling (SDWebImage's `transformerKey`): equal for any two spellings of one pipeline.
    public let transformerKey: String

    /// The empty pipeline.
    public init() {
        transformerKey = ""
    }

    /// Whether there is nothing to apply.
    public var isEmpty: Bool { transformerKey.isEmpty }
}
