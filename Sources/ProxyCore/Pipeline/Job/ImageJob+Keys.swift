// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives
import Request

extension ImageJob {
    typealias Tasks = TaskTable<Key, ImageProgress, ImageResponse, PipelineError>
    typealias Subscription = Tasks.Subscription
    typealias Fetches = TaskTable<FetchKey, OriginalFetch, Source, PipelineError>

    /// Names an image that is being made. Clients with different cache directives do not share the task.
    struct Key: Hashable, Sendable {
        let result: CacheKey
        let source: CacheKey
        /// That of the whole URL, with the parameters that only the origin gets: it may refuse a request because of them.
        let url: CacheKey
        let directives: RequestDirectives
        /// The most work that it may be: a client that may request more does not share a refusal.
        let workLimit: Int?
        /// The proxies that a request to the origin would name.
        let history: FetchContext.History?
        let privateID: UInt64?
        /// Whether another node may be asked: what another node waits for must not wait for that one.
        let asksNodes: Bool
    }

    /// Names a fetch under way.
    struct FetchKey: Hashable, Sendable {
        let source: CacheKey
        /// That of the whole URL, with the parameters that only the origin gets.
        let url: CacheKey
        /// Whether validators are sent, so that the origin may answer without a body.
        let isConditional: Bool
        let scope: StorageScope
        /// The proxies that the request to the origin names.
        let history: FetchContext.History?
        let privateID: UInt64?
    }

    var key: Key { key(asksNodes: context.asked != nil) }

    /// - Parameter asksNodes: whether it is the task of a request that may ask other nodes.
    func key(asksNodes: Bool) -> Key {
        Key(
            result: request.resultKey, source: request.sourceKey, url: request.fullKey,
            directives: directives, workLimit: request.workLimit, history: context.history,
            privateID: privateID,
            asksNodes: asksNodes)
    }

    func fetchKey(isConditional: Bool) -> FetchKey {
        FetchKey(
            source: request.sourceKey, url: request.fullKey, isConditional: isConditional, scope: scope,
            history: context.history, privateID: privateID)
    }
}
