// SPDX-License-Identifier: Apache-2.0

import HTTPServer
package import Pipeline
package import Primitives
import Synchronization
package import URLs

/// A request's content while it arrives: handed from the event loop to a thread that writes it.
package final class UploadedContent: HTTPContentReceiving {
    /// How much is handed over at once: chunks of a request may be single bytes.
    private static let pieceSize = 64 << 10

    private let buffers: UploadBuffers
    private let upload: Upload
    private let client: ClientID?
    /// How much of what `buffers` holds is this one's.
    private let size = Atomic(0)
    /// Received and not handed over.
    private let pending = Mutex<[UInt8]>([])
    /// Used by the writer alone.
    private let form: Mutex<MultipartReader?>
    private let failure = Mutex<PipelineError?>(nil)

    /// - Parameters:
    ///   - buffers: counts it with all other uploads.
    ///   - client: who sends it; nil where clients can't be distinguished.
    ///   - boundary: between the parts of a form; nil where the content is the picture.
    package init(_ upload: Upload, in buffers: UploadBuffers, from client: ClientID?, boundary: String?) {
        self.buffers = buffers
        self.upload = upload
        self.client = client
        form = Mutex(boundary.map { MultipartReader(boundary: $0) })
    }

    deinit {
        buffers.release(size.load(ordering: .relaxed), of: client)
    }

    package func receive(_ bytes: UnsafeRawBufferPointer) {
        let piece = pending.withLock { pending -> [UInt8]? in
            unsafe pending.append(contentsOf: bytes)
            return pending.count < Self.pieceSize ? nil : Self.taking(&pending)
        }
        if let piece { deliver(piece) }
    }

    /// Writes what is left, and returns the upload and the URL that stands for it.
    /// - Throws: if the body is empty or could not be written.
    package func finish() async throws(PipelineError) -> (upload: Upload, url: SourceURL) {
        deliver(pending.withLock { Self.taking(&$0) })
        await buffers.flush()
        if let failure = failure.withLock({ $0 }) { throw failure }
        guard let url = upload.finish() else {
            throw form.withLock { $0 == nil } ? .missingUpload : .missingUploadPart
        }
        guard form.withLock({ $0?.isComplete ?? true }) else { throw .incompleteForm }
        return (upload, url)
    }

    private func deliver(_ piece: [UInt8]) {
        guard buffers.hold(piece.count, of: client) else {
            return failure.withLock { $0 = $0 ?? .queueFull }
        }
        size.wrappingAdd(piece.count, ordering: .relaxed)
        let isTaken = buffers.write(piece.count, of: client) { [self] in write(piece) }
        if !isTaken { failure.withLock { $0 = $0 ?? .queueFull } }
    }

    private func write(_ piece: [UInt8]) {
        guard failure.withLock({ $0 == nil }) else { return }
        let content = form.withLock { $0?.read(piece) } ?? piece
        let result: Result<Void, PipelineError> = unsafe content.withUnsafeBytes { bytes in
            Result { () throws(PipelineError) in try unsafe upload.append(bytes) }
        }
        if case .failure(let error) = result { failure.withLock { $0 = error } }
    }

    private static func taking(_ pending: inout [UInt8]) -> [UInt8] {
        defer { pending = [] }
        return pending
    }
}

extension UploadedContent {
    /// What a request's `Content-Type` says of the parts of its content (RFC 7578 §4.1); nil where it has none.
    static func boundary(of request: HTTPRequest) -> String? {
        let parts = request.values(of: .contentType).first?.split(separator: ";") ?? []
        guard parts.first?.prefix(while: { !$0.isWhitespace }).lowercased() == "multipart/form-data" else {
            return nil
        }
        for part in parts.dropFirst() {
            let pair = part.drop(while: \.isWhitespace).split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].lowercased() == "boundary" else { continue }
            let isQuoted = pair[1].first == "\""
            let value = pair[1].dropFirst(isQuoted ? 1 : 0).prefix {
                isQuoted ? $0 != "\"" : !$0.isWhitespace
            }
            return (1...70).contains(value.utf8.count) ? String(value) : nil
        }
        return nil
    }
}
