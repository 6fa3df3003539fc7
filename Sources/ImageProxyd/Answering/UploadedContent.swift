// SPDX-License-Identifier: Apache-2.0

import Dispatch
internal import HTTPServer
import Pipeline
import Synchronization
import URLs

/// A request's content while it arrives: handed from the event loop to a thread that writes it.
final class UploadedContent: HTTPContentReceiving {
    /// What has been received and not been written, of all uploads: a slow disk must not fill the memory.
    private static let waiting = Atomic(0)
    private static let maxWaiting = 64 << 20
    /// How much is handed over at once: chunks of a request may be single bytes.
    private static let pieceSize = 64 << 10
    /// A serial queue has a thread of its own.
    private static let writer = DispatchQueue(label: "uploads")

    private let upload: Upload
    /// Received and not handed over.
    private let pending = Mutex<[UInt8]>([])
    /// Used by the writer alone.
    private let form: Mutex<MultipartReader?>
    private let failure = Mutex<PipelineError?>(nil)

    /// - Parameter boundary: between the parts of a form; nil where the content is the picture.
    init(_ upload: Upload, boundary: String?) {
        self.upload = upload
        form = Mutex(boundary.map { MultipartReader(boundary: $0) })
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        let piece = pending.withLock { pending -> [UInt8]? in
            unsafe pending.append(contentsOf: bytes)
            return pending.count < Self.pieceSize ? nil : Self.taking(&pending)
        }
        if let piece { hand(piece) }
    }

    /// Writes what is left, and returns the upload and the URL that stands for it.
    /// - Throws: that there is none, or that it could not be kept.
    func finish() async throws(PipelineError) -> (upload: Upload, url: SourceURL) {
        hand(pending.withLock { Self.taking(&$0) })
        await withCheckedContinuation { continuation in
            Self.writer.async { continuation.resume() }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        guard let url = upload.finish() else { throw .missingUpload }
        return (upload, url)
    }

    private func hand(_ piece: [UInt8]) {
        guard Self.waiting.wrappingAdd(piece.count, ordering: .relaxed).newValue <= Self.maxWaiting else {
            Self.waiting.wrappingSubtract(piece.count, ordering: .relaxed)
            return failure.withLock { $0 = $0 ?? .queueFull }
        }
        Self.writer.async { [self] in
            write(piece)
            Self.waiting.wrappingSubtract(piece.count, ordering: .relaxed)
        }
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
        guard let type = request.values(of: .contentType).first,
            type.lowercased().hasPrefix("multipart/form-data"),
            let mark = type.lowercased().firstRange(of: "boundary=")
        else { return nil }
        let text = type[mark.upperBound...]
        let value =
            text.first == "\""
            ? text.dropFirst().prefix { $0 != "\"" } : text.prefix { $0 != ";" && $0 != " " }
        return (1...70).contains(value.utf8.count) ? String(value) : nil
    }
}
