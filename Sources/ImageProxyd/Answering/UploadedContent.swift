// SPDX-License-Identifier: Apache-2.0

import Dispatch
import HTTPServer
package import Pipeline
package import Primitives
import Synchronization
package import URLs

/// A request's content while it arrives: handed from the event loop to a thread that writes it.
package final class UploadedContent: HTTPContentReceiving {
    /// What has been received and not been written, of all uploads: a slow disk must not fill the memory.
    private static let waiting = Atomic(0)
    private static let maxWaiting = 64 << 20
    /// How much is handed over at once: chunks of a request may be single bytes.
    private static let pieceSize = 64 << 10
    /// A serial queue has a thread of its own.
    private static let writer = DispatchQueue(label: "uploads")

    /// What all uploads hold that have not been answered, so that a client can't fill the disk.
    private static let held = Mutex(HeldBytes())

    private let upload: Upload
    private let client: ClientID?
    /// How much of `held` is this one's.
    private let size = Atomic(0)
    /// Received and not handed over.
    private let pending = Mutex<[UInt8]>([])
    /// Used by the writer alone.
    private let form: Mutex<MultipartReader?>
    private let failure = Mutex<PipelineError?>(nil)

    /// - Parameters:
    ///   - client: who sends it; nil where clients can't be distinguished.
    ///   - boundary: between the parts of a form; nil where the content is the picture.
    package init(_ upload: Upload, from client: ClientID?, boundary: String?) {
        self.upload = upload
        self.client = client
        form = Mutex(boundary.map { MultipartReader(boundary: $0) })
    }

    deinit {
        let size = size.load(ordering: .relaxed)
        Self.held.withLock { $0.remove(size, of: client) }
    }

    package func receive(_ bytes: UnsafeRawBufferPointer) {
        let piece = pending.withLock { pending -> [UInt8]? in
            unsafe pending.append(contentsOf: bytes)
            return pending.count < Self.pieceSize ? nil : Self.taking(&pending)
        }
        if let piece { hand(piece) }
    }

    /// Writes what is left, and returns the upload and the URL that stands for it.
    /// - Throws: if the body is empty or could not be written.
    package func finish() async throws(PipelineError) -> (upload: Upload, url: SourceURL) {
        hand(pending.withLock { Self.taking(&$0) })
        await withCheckedContinuation { continuation in
            Self.writer.async { continuation.resume() }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        guard let url = upload.finish() else {
            throw form.withLock { $0 == nil } ? .missingUpload : .missingUploadPart
        }
        return (upload, url)
    }

    private func hand(_ piece: [UInt8]) {
        guard Self.held.withLock({ $0.add(piece.count, of: client) }) else {
            return failure.withLock { $0 = $0 ?? .queueFull }
        }
        size.wrappingAdd(piece.count, ordering: .relaxed)
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

/// The bytes of several uploads, in all and by client.
struct HeldBytes {
    private(set) var count = 0
    private var byClient: [ClientID: Int] = [:]

    /// Twice the longest body that the settings allow (1 GiB).
    static let max = 2 << 30
    /// One client may hold at most half of all bytes.
    static let maxOfClient = max / 2

    /// Whether so many more bytes may be held; counts them if so.
    mutating func add(_ bytes: Int, of client: ClientID?) -> Bool {
        let own = client.map { byClient[$0, default: 0] + bytes }
        guard count + bytes <= Self.max, own ?? 0 <= Self.maxOfClient else { return false }
        count += bytes
        if let client { byClient[client] = own }
        return true
    }

    mutating func remove(_ bytes: Int, of client: ClientID?) {
        count -= bytes
        guard let client, let own = byClient[client] else { return }
        byClient[client] = own > bytes ? own - bytes : nil
    }
}
