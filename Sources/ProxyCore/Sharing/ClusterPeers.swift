// SPDX-License-Identifier: Apache-2.0

import Freshness
import Glibc
package import Loading
import Primitives
import Synchronization
import URLs

/// The other nodes: finds them, and broadcasts purges to them. Safe from any task.
package final class ClusterPeers: Sendable {
    private let configured: [ClusterPeer]
    private let key: ClusterKey
    /// This node's name; a node that answers with it is this one.
    package let node: String
    /// For purges.
    private let loader: any ImageLoading
    /// What time limits are waited by.
    let timer: any Clock<Duration>
    /// A name service that does not answer delays nothing else.
    private let lookUps = IOQueue<Unresolved>(
        label: "peers", maxRunning: 2, maxWaiting: 256, overloaded: Unresolved())
    private let counters = Mutex(0)

    private struct Unresolved: Error {}

    /// Most nodes that get a message at the same time.
    private static let mostAtOnce = 64
    /// Most addresses of one name.
    private static let maxAddresses = 1_024
    /// How long a node may take to do a purge.
    static let timeout = Duration.seconds(5)
    /// The field in which a node names itself.
    package static let nodeField = "Imageproxyd-Node"
    package static let pingPath = "/cluster/node"
    package static let purgePath = "/cluster/purge"

    /// - Parameters:
    ///   - loader: must permit the addresses of the nodes.
    ///   - timer: what time limits are waited by.
    package init(
        _ configuration: ClusterConfiguration, key: ClusterKey, node: String, loader: any ImageLoading,
        timer: any Clock<Duration> = ContinuousClock()
    ) {
        configured = configuration.peers.compactMap { ClusterPeer($0) }
        (self.key, self.node, self.loader, self.timer) = (key, node, loader, timer)
    }

    /// Failed messages since the start.
    package var failures: Int { counters.withLock { $0 } }

    /// The result of a broadcast.
    package struct Outcome: Sendable, Hashable {
        /// How many nodes beside this one have done it.
        package var reached = 0
        /// Those that have not, as `HOST:PORT`, sorted: they learn of it from the journal.
        package var unreachable: [String] = []
    }

    /// Has all other nodes do a purge; returns when each has, or could not be reached.
    package func broadcast(_ purge: SharedPurge) async -> Outcome {
        let (peers, unresolved) = await nodes()
        let target = "\(Self.purgePath)?purge=\(purge.name)"
        var outcome = Outcome(unreachable: unresolved)
        await withTaskGroup(of: (ClusterPeer, Reply).self) { group in
            var waiting = peers[...]
            func next() {
                guard let peer = waiting.popFirst() else { return }
                group.addTask { (peer, await self.post(target, to: peer)) }
            }
            for _ in 0..<Self.mostAtOnce { next() }
            for await (peer, reply) in group {
                switch reply {
                case .done: outcome.reached += 1
                case .isThisNode: break
                case .failed: outcome.unreachable.append(peer.name)
                }
                next()
            }
        }
        outcome.unreachable.sort()
        counters.withLock { $0 += outcome.unreachable.count }
        return outcome
    }

    private enum Reply { case done, isThisNode, failed }

    private func post(_ target: String, to peer: ClusterPeer) async -> Reply {
        do throws(ExchangeError) {
            let answer = try await exchange(
                "POST", target, with: peer, atMost: 64 << 10, within: Self.timeout)
            guard answer.status == 200 else { return .failed }
            return answer.field(Self.nodeField.lowercased()) == node ? .isThisNode : .done
        } catch {
            return .failed
        }
    }

    /// Sends a signed request to a node.
    ///
    /// - Parameters:
    ///   - other: what sends it, if not the loader for purges.
    ///   - client: the client that waits for the answer; nil for none.
    ///   - budget: counts the answer's bytes.
    func exchange(
        _ method: String, _ target: String, with peer: ClusterPeer, atMost limit: Int, within time: Duration,
        by other: (any ImageLoading)? = nil, for client: ClientID? = nil, budget: ByteBudget? = nil
    ) async throws(ExchangeError) -> ExchangeAnswer {
        let text = peer.url + target
        // Ignored: what is wrong with it; a name that the settings permit may still be none of a host.
        guard let url = try? SourceURL(parsing: text) else { throw .failed("\(text) is no URL") }
        var request = OriginRequest(
            url: url,
            fields: [
                HeaderField(name: ClusterKey.field, value: key.signature(method, target)),
                HeaderField(name: Self.nodeField, value: node),
            ])
        request.command = OriginRequest.Command(method)
        request.waiters = Waiters(client)
        let receiver = ExchangeAnswerReceiver(limit: limit, budget: budget)
        let (asked, key) = (request, key)
        return try await Deadline.run(within: time, by: timer) {
            [loader = other ?? loader] () async throws(ExchangeError) in
            do throws(LoadError) {
                _ = try await loader.load(asked, into: receiver)
            } catch {
                throw Task.isCancelled ? .timedOut : ExchangeError(error)
            }
            guard let answer = receiver.answer else { throw .failed("no answer") }
            let signature = answer.field(ClusterKey.field.lowercased())
            guard
                ![200, 409].contains(answer.status)
                    || signature == key.signature(ofAnswer: answer.content, to: target)
            else { throw .failed("the answer is not signed by the cluster's key") }
            return answer
        }
    }

    // MARK: - Addresses

    /// All nodes, each address once, and the names that do not resolve.
    package func nodes() async -> (nodes: [ClusterPeer], unresolved: [String]) {
        var found: [ClusterPeer] = []
        var unresolved: [String] = []
        for peer in configured {
            // A certificate is for a name, not for its addresses.
            guard peer.scheme == "http" else {
                found.append(peer)
                continue
            }
            // Ignored: why; the name is reported.
            let addresses = try? await lookUps.run { () throws(Unresolved) in try Self.addresses(of: peer) }
            if let addresses { found += addresses } else { unresolved.append(peer.name) }
        }
        var seen: Set<ClusterPeer> = []
        return (found.filter { seen.insert($0).inserted }, unresolved)
    }

    /// Blocking.
    private static func addresses(of peer: ClusterPeer) throws(Unresolved) -> [ClusterPeer] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let host = peer.host.hasPrefix("[") ? String(peer.host.dropFirst().dropLast()) : peer.host
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { throw Unresolved() }
        defer { unsafe freeaddrinfo(list) }
        var found: [ClusterPeer] = []
        var next = unsafe list
        while let entry = unsafe next, found.count < maxAddresses {
            let facts = unsafe entry.pointee
            unsafe next = facts.ai_next
            guard let host = unsafe Self.host(of: facts.ai_addr, facts.ai_addrlen) else { continue }
            found.append(ClusterPeer(scheme: peer.scheme, host: host, port: peer.port))
        }
        return found
    }

    /// A socket address as it stands in `HOST:PORT`; nil if it is none of IP.
    static func host(of address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = unsafe getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        guard code == 0 else { return nil }
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return name.contains(":") ? "[\(name)]" : name
    }
}
