// SPDX-License-Identifier: Apache-2.0

/// Decodes the content codings of a body, the last applied first (RFC 9110 §8.4), part by part: a few bytes may become
/// many, and the other fetches share the thread.
///
/// libcurl's own decoder accepts a truncated coding as complete. Confined to the loader's thread.
final class ContentDecoder {
    private let layers: [Inflater]

    /// The maximum number of encoded bytes for a body of at most `maxBytes`: incompressible data grows a
    /// little.
    let maxPackedBytes: Int

    /// Whether bytes have been added and not been decoded.
    private(set) var hasWork = false

    /// The number of encoded bytes from which on no further ones should be added before some are decoded.
    private static let enoughWaiting = 64 << 10
    /// The number of decoded bytes of all codings in one part, some milliseconds of work.
    private static let part = 1 << 20

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

    /// Whether no more encoded bytes should be added before some are decoded.
    var isFull: Bool { layers[0].waitingBytes >= Self.enoughWaiting }

    /// Adds a further piece of the body.
    func add(_ bytes: UnsafeRawBufferPointer) {
        unsafe layers[0].add(bytes)
        hasWork = true
    }

    /// Decodes the next part of what has been added, and passes the output to `next`.
    /// - Throws: `incomplete` if the bytes are malformed, `tooLarge`, or an error of `next`.
    func decodePart(
        _ next: (UnsafeRawBufferPointer) throws(LoadError) -> Void
    ) throws(LoadError) {
        var left = Self.part
        while left > 0 {
            guard let piece = unsafe try decodeNext(of: layers.count - 1, &left) else {
                hasWork = left <= 0
                return
            }
            try unsafe next(piece)
        }
    }

    /// Checks the end; called when the body is complete.
    /// - Throws: `incomplete` if a coding has not ended with the body.
    func finish() throws(LoadError) {
        guard layers.allSatisfy(\.isComplete) else { throw .incomplete("a content coding that breaks off") }
    }

    /// The next decoded bytes of a layer; nil if the body's further bytes are needed for that, or nothing is left of the part.
    private func decodeNext(of layer: Int, _ left: inout Int) throws(LoadError) -> UnsafeRawBufferPointer? {
        while true {
            if let piece = unsafe try layers[layer].decodeNext() {
                left -= piece.count
                return unsafe piece
            }
            guard layer > 0, left > 0, let input = unsafe try decodeNext(of: layer - 1, &left) else {
                return nil
            }
            unsafe layers[layer].add(input)
        }
    }
}
