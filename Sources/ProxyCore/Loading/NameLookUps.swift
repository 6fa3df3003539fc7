// SPDX-License-Identifier: Apache-2.0

import CLinux
import Primitives

/// Counts running name look-ups: each uses descriptors that only the resolver knows. Confined to the loader's
/// thread.
final class NameLookUps {
    private var underWay = 0
    private var perClient: [ClientID: Int] = [:]

    /// A look-up that is running.
    struct Ticket {
        fileprivate let client: ClientID?
    }

    /// The maximum number of descriptors of one look-up: libcurl's own pair, and two of the C library.
    private static let descriptorsEach = 4

    /// Counts a new look-up for the first of the clients that may have another: each may have half of them. Nil if none may,
    /// or if it could use descriptors that other libraries need, even if lower ones are free.
    func begin(for clients: [ClientID?]) -> Ticket? {
        let most = Self.most(of: linux_descriptor_limit())
        let mostEach = max(1, most / 2)
        guard underWay < most,
            let client = clients.first(where: { $0.map { perClient[$0, default: 0] < mostEach } ?? true })
        else { return nil }
        if let client { perClient[client, default: 0] += 1 }
        underWay += 1
        return Ticket(client: client)
    }

    /// Counts a finished look-up.
    func end(_ ticket: Ticket) {
        underWay -= 1
        guard let client = ticket.client, let count = perClient[client] else { return }
        perClient[client] = count > 1 ? count - 1 : nil
    }

    /// The maximum number of concurrent look-ups for a number of descriptors that may be open: the
    /// descriptors reserved for libraries, less the share of other libraries.
    static func most(of descriptors: UInt64) -> Int {
        let kept = Int(linux_kept_descriptors(descriptors)) - Int(LINUX_FEWEST_KEPT)
        return max(descriptorsEach, kept) / descriptorsEach
    }
}
