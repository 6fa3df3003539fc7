// SPDX-License-Identifier: Apache-2.0

/// Parses request heads strictly: what two recipients could interpret differently is refused. Pure; stores no
/// bytes.
///
/// Every line is checked as soon as it is complete, in order, so that the result does not depend on how the
/// bytes are split.
struct RequestParser {
    let limits: RequestLimits
    private var progress = Progress()

    enum Outcome: Equatable {
        case needsMore
        /// A whole head; the next byte lies at `length`.
        case head(length: Int, RequestFraming)
        case failed(RequestError)
        /// The same for a complete head whose fields request what is impossible; `request` is filled.
        case refused(RequestError)
    }

    /// How far the bytes of the present head have been parsed.
    private struct Progress {
        var lineStart = 0
        /// Where the search for the line's end continues.
        var scanned = 0
        var emptyLines = 0
        var fieldLines = 0
        var hasRequestLine = false
        var form = RequestLine.TargetForm.origin
    }

    init(_ limits: RequestLimits) {
        self.limits = limits
    }

    /// Hot path: parses all bytes received since the last head; gives the same result however they were
    /// split.
    ///
    /// `request` is filled in place and complete only with the result `head`.
    mutating func parse(_ bytes: UnsafeRawBufferPointer, into request: inout HTTPRequest) -> Outcome {
        let pointer = unsafe bytes.assumingMemoryBound(to: UInt8.self)
        let octets = unsafe pointer.span
        // Most heads arrive whole: then none of this is stored.
        var reading = progress
        // Of a head that began earlier only the result counts here: otherwise the lines of heads that never
        // end would accumulate.
        if progress.hasRequestLine { request.forgetLines() }
        do throws(RequestError) {
            guard var length = try read(octets, &reading, into: &request) else {
                progress = reading
                return .needsMore
            }
            if progress.hasRequestLine {
                // The request may have served another connection meanwhile: all lines are recorded again.
                reading = Progress()
                length = try read(octets.extracting(0..<length), &reading, into: &request) ?? length
            }
            if progress.scanned > 0 { progress = Progress() }
            unsafe request.keep(UnsafeRawBufferPointer(rebasing: bytes[..<length]))
            let framing: RequestFraming
            do throws(RequestError) {
                framing = try RequestFraming(of: &request)
            } catch {
                return .refused(error)
            }
            if case .absolute(let authority, let path) = reading.form {
                request.reduce(authority: authority, path: path)
            }
            return .head(length: length, framing)
        } catch {
            return .failed(error)
        }
    }
}

extension RequestParser {
    /// Parses lines up to the first empty one after the request line; nil if that has not been received.
    private func read(
        _ octets: Span<UInt8>, _ progress: inout Progress, into request: inout HTTPRequest
    ) throws(RequestError) -> Int? {
        while true {
            let lineFeed = octets.lineFeed(from: progress.scanned)
            try checkBounds(octets, progress, lineEnd: lineFeed.map { $0 + 1 })
            guard let lineFeed else {
                progress.scanned = octets.count
                return nil
            }
            // A line feed alone does not end a line (RFC 9112 §2.2).
            guard lineFeed > progress.lineStart, octets[lineFeed - 1] == Octet.carriageReturn else {
                throw .malformed
            }
            let line = progress.lineStart..<(lineFeed - 1)
            (progress.lineStart, progress.scanned) = (lineFeed + 1, lineFeed + 1)
            if try read(octets, line, &progress, into: &request) { return lineFeed + 1 }
        }
    }

    /// Refuses a line that can't become an allowed one, as early as possible; `lineEnd` is nil while it has
    /// not been received.
    private func checkBounds(
        _ octets: Span<UInt8>, _ progress: Progress, lineEnd: Int?
    ) throws(RequestError) {
        let start = progress.lineStart
        let length = (lineEnd ?? octets.count + 1) - start
        if !progress.hasRequestLine {
            // A client that speaks another protocol is refused at once.
            if start < octets.count, octets[start] != Octet.carriageReturn,
                !OctetSet.token.contains(octets[start])
            {
                throw .malformed
            }
            let longest = max(0, min(limits.targetBytes + RequestLine.overhead, limits.headBytes - start))
            guard length <= longest else {
                throw RequestLine.lengthError(octets, start..<min(start + longest, octets.count))
            }
        } else if start + length > limits.headBytes {
            throw .headTooLarge
        }
    }

    /// Parses one line; true for the empty line that ends a head.
    private func read(
        _ octets: Span<UInt8>, _ line: Range<Int>, _ progress: inout Progress, into request: inout HTTPRequest
    ) throws(RequestError) -> Bool {
        guard progress.hasRequestLine else {
            try readRequestLine(octets, line, &progress, into: &request)
            return false
        }
        guard !line.isEmpty else { return true }
        progress.fieldLines += 1
        guard progress.fieldLines <= limits.fieldLines else { throw .headTooLarge }
        request.note(try FieldLine(octets, line))
        return false
    }

    /// Parses the request line, or skips an empty line before it (RFC 9112 §2.2).
    private func readRequestLine(
        _ octets: Span<UInt8>, _ line: Range<Int>, _ progress: inout Progress, into request: inout HTTPRequest
    ) throws(RequestError) {
        guard !line.isEmpty else {
            progress.emptyLines += 1
            guard progress.emptyLines <= limits.emptyLines else { throw .malformed }
            return
        }
        let requestLine = try RequestLine(octets, line, maxTargetBytes: limits.targetBytes)
        request.begin(requestLine.method, target: requestLine.target, isHTTP10: requestLine.isHTTP10)
        (progress.hasRequestLine, progress.form) = (true, requestLine.form)
    }
}
