// SPDX-License-Identifier: Apache-2.0

import Freshness
package import Loading
import Origins
import Primitives
import URLs

/// An object as the store returned it.
package struct StoredObject: Sendable {
    /// Its bytes.
    package var content: [UInt8]
    /// Seconds since it was stored, by the store's own clock; 0 where the store does not say.
    package var age: Int64
    /// When it was stored, in seconds since 1970 by the store's clock.
    package var storedAt: Int64
    /// The values of its `x-amz-meta-` fields, by the rest of their names.
    package var metadata: [String: String]
}

/// One object of a listing.
package struct ListedObject: Sendable, Hashable {
    package var name: String
    /// When it was stored, in seconds since 1970 by the store's clock.
    package var storedAt: Int64
}

/// The objects of one bucket, by the interface of S3. Signed by libcurl, transferred by a loader of its own.
///
/// Every call is one exchange, but for `put` of a large object. Safe from any task; cancelling the task aborts the exchange.
package final class ObjectStore: Sendable {
    private let loader: any ImageLoading
    private let rule: OriginRule
    /// The URL of the bucket, which ends in a slash.
    private let bucket: String
    /// What the names of all objects begin with in the bucket; names here come without it.
    private let prefix: String
    private let uploadFields: [HeaderField]
    /// The store's clock less this machine's, as the last answer showed it.
    package let clock: StoreClock
    /// Counts every exchange but look-ups, which the tier counts by what it finds.
    let counters = SharedCounters()
    private let observe: @Sendable (SharedStatistics.Operation, UInt64) -> Void
    /// Of objects that are being received, and of those that are being sent.
    let budget: ByteBudget, uploadBudget: ByteBudget

    /// The largest object that is uploaded by one request, and the length of the parts of a larger one; in bytes.
    static let partBytes = 8 << 20
    /// The maximum number of objects that one request deletes or lists.
    static let mostAtOnce = 1_000
    /// The maximum number of pages of a list: ten million objects.
    private static let maxPages = 10_000
    /// The maximum number of bytes of an answer that is no object.
    private static let maxDocument = 4 << 20

    /// Opens a bucket; nothing is asked yet.
    /// - Parameter observe: called after each exchange with what it was and how long it took, in nanoseconds.
    package init(
        _ configuration: SharedConfiguration, at place: StorePlace, loader: any ImageLoading,
        clock: StoreClock = StoreClock(),
        observe: @escaping @Sendable (SharedStatistics.Operation, UInt64) -> Void = { _, _ in }
    ) {
        (self.loader, self.clock, self.observe) = (loader, clock, observe)
        (rule, prefix) = (place.rule, configuration.prefix)
        budget = ByteBudget(configuration.objectBytes.bytes)
        uploadBudget = ByteBudget(configuration.objectBytes.bytes)
        bucket = place.bucket + configuration.prefix
        let fields = [
            ("x-amz-server-side-encryption", configuration.encryption),
            ("x-amz-server-side-encryption-aws-kms-key-id", configuration.encryptionKey),
        ]
        uploadFields = fields.filter { !$0.1.isEmpty }.map { HeaderField(name: $0.0, value: $0.1) }
    }

    // MARK: - Single objects

    /// Returns an object; nil if there is none.
    /// - Parameters:
    ///   - name: without the prefix.
    ///   - limit: the maximum number of bytes.
    ///   - isLookUp: whether the caller counts it, by what it finds.
    package func get(
        _ name: String, atMost limit: Int, isLookUp: Bool = false
    ) async throws(ExchangeError) -> StoredObject? {
        let answer = try await exchange(
            .get, try url(name), .init("GET"), [], limit: limit, isCounted: !isLookUp)
        if answer.status == 404 { return nil }
        guard answer.status == 200 else { throw answer.refusal }
        return answer.object(by: clock)
    }

    /// Stores an object in place of an earlier one; a large one in parts, so that it appears as a whole or not at all.
    /// - Parameters:
    ///   - name: without the prefix.
    ///   - content: its bytes.
    ///   - metadata: values of `x-amz-meta-` fields, by the rest of their names.
    /// - Returns: when it was stored, in seconds since 1970 by the store's clock; nil where the store does not say.
    @discardableResult
    package func put(
        _ name: String, _ content: [UInt8], metadata: [String: String] = [:]
    ) async throws(ExchangeError) -> Int64? {
        let fields =
            metadata.sorted { $0.key < $1.key }.map {
                HeaderField(name: "x-amz-meta-" + $0.key, value: $0.value)
            } + uploadFields + [HeaderField(name: "Content-Type", value: "application/octet-stream")]
        guard content.count > Self.partBytes else {
            let answer = try await exchange(.put, try url(name), .init("PUT", content: content), fields)
            guard answer.status == 200 else { throw answer.refusal }
            // Whatever answers in the store's place has stored nothing.
            guard answer.field("etag") != nil else {
                throw .failed("the store's answer names no stored object")
            }
            return clock.time(of: answer)
        }
        try await putParts(name, content, fields)
        return nil
    }

    private func putParts(
        _ name: String, _ content: [UInt8], _ fields: [HeaderField]
    ) async throws(ExchangeError) {
        let begun = try await exchange(.put, try url(name, "?uploads="), .init("POST"), fields)
        guard begun.status == 200, let upload = begun.document.element("UploadId") else {
            throw begun.refusal
        }
        let id = "uploadId=" + upload.asQueryValue
        do throws(ExchangeError) {
            var parts = ""
            for (index, start) in stride(from: 0, to: content.count, by: Self.partBytes).enumerated() {
                let part = Array(content[start..<min(content.count, start + Self.partBytes)])
                let sent = try await exchange(
                    .put, try url(name, "?partNumber=\(index + 1)&" + id), .init("PUT", content: part), [])
                guard sent.status == 200, let tag = sent.field("etag") else { throw sent.refusal }
                let text = tag.filter { $0 != "\"" }
                parts += "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(text)</ETag></Part>"
            }
            let list = "<CompleteMultipartUpload>\(parts)</CompleteMultipartUpload>"
            let ended = try await exchange(
                .put, try url(name, "?" + id), .init("POST", content: Array(list.utf8)),
                [HeaderField(name: "Content-Type", value: "application/xml")])
            // The store may answer 200 before it knows, and say in the document that it failed.
            guard ended.status == 200, ended.document.element("Error") == nil else { throw ended.refusal }
        } catch {
            // Ignored: whether the parts are gone; a lifecycle rule removes those of uploads that never end.
            _ = try? await exchange(.delete, try url(name, "?" + id), .init("DELETE"), [])
            throw error
        }
    }

    /// Deletes objects, also those that are not there.
    package func delete(_ names: [String]) async throws(ExchangeError) {
        for start in stride(from: 0, to: names.count, by: Self.mostAtOnce) {
            try await deleteAtOnce(names[start..<min(names.count, start + Self.mostAtOnce)])
        }
    }

    private func deleteAtOnce(_ names: ArraySlice<String>) async throws(ExchangeError) {
        if names.count == 1, let name = names.first {
            let answer = try await exchange(.delete, try url(name), .init("DELETE"), [])
            guard [200, 204, 404].contains(answer.status) else { throw answer.refusal }
            return
        }
        let objects = names.map { "<Object><Key>\(prefix)\($0)</Key></Object>" }.joined()
        let list = Array("<Delete><Quiet>true</Quiet>\(objects)</Delete>".utf8)
        let answer = try await exchange(
            .delete, try bucketURL("?delete="), .init("POST", content: list),
            [
                HeaderField(name: "Content-Type", value: "application/xml"),
                HeaderField(name: "Content-MD5", value: Base64.encode(HashFunction.md5.hash(list))),
            ])
        guard answer.status == 200 else { throw answer.refusal }
        if let code = answer.document.element("Code") { throw .refused(200, code) }
    }

    // MARK: - Listing

    /// Lists at most a thousand objects in the order of their names.
    /// - Parameters:
    ///   - start: what their names begin with.
    ///   - last: the name after which the list begins; nil for the first.
    package func list(
        _ start: String, after last: String? = nil
    ) async throws(ExchangeError) -> (objects: [ListedObject], isCut: Bool) {
        var query = "?list-type=2&max-keys=\(Self.mostAtOnce)&prefix=" + (prefix + start).asQueryValue
        if let last { query += "&start-after=" + (prefix + last).asQueryValue }
        let answer = try await exchange(.list, try bucketURL(query), .init("GET"), [])
        guard answer.status == 200 else { throw answer.refusal }
        let document = answer.document
        // Whatever answers in the store's place, no list is not an empty one.
        guard document.ends("ListBucketResult"),
            let isCut = document.element("IsTruncated").flatMap({ Bool($0) })
        else { throw .failed("the store's answer is no list of objects") }
        var objects: [ListedObject] = []
        for text in document.elements("Contents") {
            guard let name = text.element("Key"), name.hasPrefix(prefix),
                let time = text.element("LastModified").flatMap({ AWSTime.seconds(of: $0) })
            else { throw .failed("the store's list has an object without a name or a time") }
            objects.append(ListedObject(name: String(name.dropFirst(prefix.count)), storedAt: time))
        }
        if isCut {
            guard let end = objects.last?.name, (last ?? "").utf8.lexicographicallyPrecedes(end.utf8) else {
                throw .failed("the store's list does not advance")
            }
        }
        return (objects, isCut)
    }

    /// Passes on a whole list, page by page.
    func listAll(
        _ start: String, after first: String? = nil,
        _ page: ([ListedObject]) async throws(ExchangeError) -> Void
    ) async throws(ExchangeError) {
        var last = first
        for _ in 0..<Self.maxPages {
            let (objects, isCut) = try await list(start, after: last)
            try await page(objects)
            guard isCut else { return }
            last = objects.last?.name
        }
        throw .failed("the store's list has more than \(Self.maxPages) pages")
    }

    // MARK: - Exchanges

    private func url(_ name: String, _ query: String = "") throws(ExchangeError) -> SourceURL {
        try parsed(bucket + name + query)
    }

    /// Of the bucket itself: the prefix is a matter of the query.
    private func bucketURL(_ query: String) throws(ExchangeError) -> SourceURL {
        try parsed(bucket.dropLast(prefix.count) + query)
    }

    private func parsed(_ text: some StringProtocol) throws(ExchangeError) -> SourceURL {
        do throws(SourceURLError) {
            return try SourceURL(parsing: String(text))
        } catch {
            throw .failed("\(text) is no URL")
        }
    }

    /// - Parameters:
    ///   - operation: as what it is counted and timed.
    ///   - isCounted: false where the caller counts it.
    private func exchange(
        _ operation: SharedStatistics.Operation, _ url: SourceURL, _ command: OriginRequest.Command,
        _ fields: [HeaderField], limit: Int = maxDocument, isCounted: Bool = true
    ) async throws(ExchangeError) -> ExchangeAnswer {
        // The content's own hash: the store refuses what arrives altered, and nothing is sent unsigned.
        let hash = HeaderField(name: "x-amz-content-sha256", value: SHA256.hash(command.content).hexadecimal)
        var request = OriginRequest(url: url, fields: fields + [hash], rule: rule)
        request.command = command
        let receiver = ExchangeAnswerReceiver(limit: limit, budget: limit > Self.maxDocument ? budget : nil)
        let start = ContinuousClock.now
        defer { observe(operation, UInt64(max(0, (ContinuousClock.now - start) / .nanoseconds(1)))) }
        do throws(LoadError) {
            _ = try await loader.load(request, into: receiver)
        } catch {
            // What has begun to arrive in time, or is too long, says nothing of the store.
            let slow: ExchangeError = receiver.answer == nil ? .timedOut : .tooSlow
            let failure = Task.isCancelled ? slow : ExchangeError(error)
            if isCounted { counters.count(operation, failure.outcome) }
            throw failure
        }
        guard let answer = receiver.answer else { throw .failed("no answer") }
        clock.note(answer)
        if isCounted { count(operation, answer, sent: command.content.count) }
        return answer
    }

    private func count(_ operation: SharedStatistics.Operation, _ answer: ExchangeAnswer, sent: Int) {
        switch (answer.status, operation) {
        case (200..<300, .get): counters.count(.get, .ok, bytes: answer.content.count)
        case (404, .get): counters.count(.get, .missing)
        case (200..<300, _), (404, _): counters.count(operation, .ok, bytes: sent)
        default: counters.count(operation, .failed, bytes: operation == .get ? 0 : sent)
        }
    }
}

extension ExchangeError {
    init(_ error: LoadError) {
        switch error {
        case .timedOut, .queueTimedOut: self = .timedOut
        case .noKeys(let text): self = .noKeys(text)
        case .unreachable(let text), .disconnected(let text), .tlsFailed(let text), .incomplete(let text):
            self = .failed(text)
        case .tooLarge: self = .tooLarge
        case .queueFull: self = .overloaded
        default: self = .failed("\(error)")
        }
    }
}
