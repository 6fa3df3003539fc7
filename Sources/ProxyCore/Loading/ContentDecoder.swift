// SPDX-License-Identifier: Apache-2.0

/// Undoes the content codings of a body while it arrives, the one that was applied last first (RFC 9110 §8.4).
///
/// libcurl could do that, but it takes a coding that breaks off for one that is complete. Confined to the loader's thread.
final class ContentDecoder {
    private let layers: [Inflater]

    /// Most bytes that may arrive for a body of at most `maxBytes`: what can't be packed grows a little.
    let maxPackedBytes: Int

    /// Nothing read yet; nil where there is nothing to undo.
    /// - Parameters:
    ///   - codings: in the order in which they were applied.
    ///   - maxBytes: most bytes that may come out, and about as many between two codings, so that nothing swells there.
    init?(_ codings: [ContentCoding], maxBytes: Int) {
        guard !codings.isEmpty else { return nil }
        let maxPackedBytes = maxBytes + maxBytes / 64 + 4_096
        self.maxPackedBytes = maxPackedBytes
        layers = codings.enumerated().reversed().map { place, coding in
            Inflater(coding, maxBytes: place == 0 ? maxBytes : maxPackedBytes)
        }
    }

    /// Takes a further piece, and gives what comes out to `next`.
    /// - Throws: `incomplete` where the bytes are not what their codings say, `tooLarge`, or what `next` throws.
    func take(
        _ bytes: UnsafeRawBufferPointer, _ next: (UnsafeRawBufferPointer) throws(LoadError) -> Void
    ) throws(LoadError) {
        try unsafe take(bytes, from: 0, next)
    }

    /// Has to be asked when the body is complete.
    /// - Throws: `incomplete` where a coding has not ended with it.
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
