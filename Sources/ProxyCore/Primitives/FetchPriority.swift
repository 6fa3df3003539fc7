// SPDX-License-Identifier: Apache-2.0

/// The order in which waiting fetches get a slot.
package enum FetchPriority: String, Sendable, Hashable, CaseIterable, Codable {
    /// After all others: background refreshes and cache warming.
    case low
    /// For requests of clients.
    case normal
    /// Before all others.
    case high

    /// Reads `Priority` of RFC 9218: urgency 0–2 is high, 3 (the default) and 4 normal, 5–7 low.
    ///
    /// Ignores everything but a member `u` from 0 to 7 (RFC 9218 §4).
    package init(field value: String) {
        let member = value.listMembers.last { $0.drop { $0 == " " || $0 == "\t" }.hasPrefix("u=") }
        let digits = member?.drop { $0 != "=" }.dropFirst().prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        switch digits.flatMap({ $0.utf8.count == 1 ? Int($0) : nil }) {
        case 0, 1, 2: self = .high
        case 5, 6, 7: self = .low
        default: self = .normal
        }
    }

    /// The rank among the priorities, the lowest priority first.
    package var rank: Int {
        switch self {
        case .low: 0
        case .normal: 1
        case .high: 2
        }
    }
}

extension FetchPriority: Comparable {
    /// A lower priority is less than a higher one.
    package static func < (left: FetchPriority, right: FetchPriority) -> Bool { left.rank < right.rank }
}
