// SPDX-License-Identifier: Apache-2.0

/// Decodes the content codings of a body while it arrives, the last applied first (RFC 9110 §8.4).
///
/// libcurl's own decoder accepts a truncated coding as complete. Confined to the loader's thread.
final class ContentDecoder {
    private let layers: [Inflater]

    /// The maximum number of encoded bytes for a body of at most `maxBytes`: incompressible data grows a
    /// little.
    let maxPackedBytes: Int

    /// Creates a decoder; nil if there is nothing to decode.
    /// - Parameters:
    ///   - codings: in the order in which they were applied.
    ///   - maxBytes: the maximum number of decoded bytes, and about the maximum between two codings.
    init?(_ codings: [ContentCoding], maxBytes: Int) {
        guard !codings.isEmpty else { return nil }
        let maxPackedBytes = maxBytes + maxBytes / 64 + 4_096
        self.maxPackedBytes = maxPackedBytes
        layers = codings.enumerated().reversed().map { place, coding in
            Inflater(coding, maxBytes: place == 0 ? maxBytes : maxPackedBytes)
        }
    }

    /// Decodes a further piece and passes the output to `next`.
    /// - Throws: `incomplete` if the bytes are malformed, `tooLarge`, or an error of `next`.
    func take(
        _ bytes: UnsafeRawBufferPointer, _ next: (UnsafeRawBufferPointer) throws(LoadError) -> Void
    ) throws(LoadError) {
        try unsafe take(bytes, from: 0, next)
    }

    /// Checks the end; called when the body is complete.
    /// - Throws: `incomplete` if a coding has not ended with the body.
    func finish() throws(LoadError) {
        guard layers.allSatisfy(\.isComplete) else { throw .incomplete("a content coding that breaks off") }
    }

    private func take(
        _ bytes: UnsafeRawBufferPointer, from layer: Int,
        _ next: (UnsafeRawBufferPointer) throws(LoadError) -> Void
    ) throws(LoadError) {
        guard layer < layers.count else { return try unsafe next(bytes) }
        try unsafe layers[layer].take(bytes) { (piece) throws(LoadError) in
            try unsafe take(piece, from: layer + 1, next)
        }
    }
}
