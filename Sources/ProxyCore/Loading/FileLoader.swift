// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Freshness
import Glibc
import Origins
package import Primitives
import Synchronization
import URLs

/// Serves the files of a folder as an origin's responses (an origin rule with `loader: file`).
///
/// The URL's path, percent-decoded once, is the file's path below the rule's root; the query is ignored. The
/// kernel confines the path to the root and follows no symbolic link (openat2(2), RESOLVE_BENEATH and
/// RESOLVE_NO_SYMLINKS). The loader copies the file, and fails if the file changes between its first and its
/// last byte.
package final class FileLoader: ImageLoading {
    /// The number of bytes that one read requests.
    private static let pieceSize = 256 << 10
    /// The maximum numbers of files that are read at once, and of fetches that wait for that.
    private static let maxReading = 4, maxWaiting = 256

    private let maxBytes: Atomic<Int>
    private let queue = IOQueue<LoadError>(
        label: "files", maxRunning: maxReading, maxWaiting: maxWaiting, overloaded: .queueFull)

    /// - Parameter maxBytes: the size of the largest file (`fetch.maxBytes`).
    package init(maxBytes: ByteCount) {
        self.maxBytes = Atomic(maxBytes.bytes)
    }

    /// Changes the size of the largest file.
    package func adopt(maxBytes: ByteCount) {
        self.maxBytes.store(maxBytes.bytes, ordering: .relaxed)
    }

    /// Delivers a file's bytes, or a 304 if the validators match.
    package func load(
        _ request: OriginRequest, into receiver: any OriginReceiving
    ) async throws(LoadError) -> LoadSummary {
        guard let root = request.rule?.root, let path = Self.path(of: request.url) else {
            throw .noFile("the path has an empty or dot segment, or an escape that no name of a file has")
        }
        let maxBytes = maxBytes.load(ordering: .relaxed)
        let client = request.waiters.current.clients.first ?? nil
        return try await queue.run(for: client) { () throws(LoadError) in
            try Self.read(path, below: root, request, into: receiver, maxBytes: maxBytes)
        }
    }

    /// The file's path; nil if the URL's path has an empty, dot or undecodable segment, or a segment with an
    /// encoded slash.
    static func path(of url: SourceURL) -> String? {
        var segments: [String] = []
        for segment in url.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let name = percentDecodedText(segment), !name.isEmpty, name != ".", name != "..",
                !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
            else { return nil }
            segments.append(name)
        }
        return segments.isEmpty ? nil : segments.joined(separator: "/")
    }

    private static func read(
        _ path: String, below root: String, _ request: OriginRequest, into receiver: any OriginReceiving,
        maxBytes: Int
    ) throws(LoadError) -> LoadSummary {
        let file = try open(path, below: root)
        guard let facts = facts(of: file), facts.st_mode & S_IFMT == S_IFREG else {
            throw .noFile("it is a folder, or else no regular file")
        }
        guard facts.st_size <= maxBytes else { throw .tooLarge }
        let head = head(of: facts, for: request)
        try receiver.receive(head: head)
        guard head.status == 200 else { return LoadSummary() }
        var summary = LoadSummary()
        summary.byteCount = try deliver(file, to: receiver, count: Int(facts.st_size))
        // Bytes of two versions are no picture.
        guard let last = Self.facts(of: file), isSame(facts, last) else {
            throw .incomplete("the file has changed while it was read")
        }
        return summary
    }

    private static func facts(of file: OwnedDescriptor) -> stat? {
        var facts = stat()
        return unsafe fstat(file.raw, &facts) == 0 ? facts : nil
    }

    /// Compares size and modification time, too: the change time has a resolution of some milliseconds.
    private static func isSame(_ one: stat, _ other: stat) -> Bool {
        one.st_size == other.st_size && isSame(one.st_mtim, other.st_mtim)
            && isSame(one.st_ctim, other.st_ctim)
    }

    private static func isSame(_ one: timespec, _ other: timespec) -> Bool {
        one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec
    }

    private static func open(_ path: String, below root: String) throws(LoadError) -> OwnedDescriptor {
        let folder = unsafe linux_open(root, O_DIRECTORY | O_CLOEXEC | O_RDONLY, 0)
        guard folder >= 0 else { throw exhaustion(errno) ?? .storage("\(root): error \(errno)") }
        let owner = OwnedDescriptor(owning: folder)
        let descriptor = unsafe linux_open_beneath(owner.raw, path)
        guard descriptor >= 0 else {
            // For any other error the answer is that there is no such image.
            throw exhaustion(errno) ?? .noFile(reason(errno))
        }
        return OwnedDescriptor(owning: descriptor)
    }

    /// Why a path could not be opened.
    private static func reason(_ code: CInt) -> String {
        switch code {
        case ENOENT, ENOTDIR: "there is no such file"
        case ELOOP: "a part of the path is a symbolic link, which is not followed"
        case EACCES: "permission denied"
        default: "error \(code)"
        }
    }

    /// The error for a lack of descriptors, which is temporary.
    private static func exhaustion(_ code: CInt) -> LoadError? {
        code == EMFILE || code == ENFILE ? .queueFull : nil
    }

    private static func head(of facts: stat, for request: OriginRequest) -> OriginHead {
        let seconds = Int64(facts.st_mtim.tv_sec)
        let tag = "\"\(facts.st_ino)-\(facts.st_size)-\(seconds).\(facts.st_mtim.tv_nsec)\""
        let modified = HTTPDate(seconds: seconds).description
        let isSame = request.ifNoneMatch.map { $0 == tag } ?? (request.ifModifiedSince == modified)
        let now = SystemTime.now()
        return OriginHead(
            status: isSame ? 304 : 200,
            fields: [
                HeaderField(name: "etag", value: tag),
                HeaderField(name: "last-modified", value: modified),
            ],
            contentLength: isSame ? nil : Int(facts.st_size), requestTime: now, responseTime: now)
    }

    private static func deliver(
        _ file: OwnedDescriptor, to receiver: any OriginReceiving, count: Int
    ) throws(LoadError) -> Int {
        var buffer = [UInt8](repeating: 0, count: min(pieceSize, max(1, count)))
        var handed = 0
        while handed < count {
            let length = retryingOnInterrupt {
                unsafe Glibc.read(file.raw, &buffer, min(buffer.count, count - handed))
            }
            guard length > 0 else { throw .incomplete("the file has become shorter") }
            try unsafe buffer.withBytes { (bytes) throws(LoadError) in
                try unsafe receiver.receive(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
            }
            handed += length
            receiver.didDrain()
        }
        return handed
    }
}
