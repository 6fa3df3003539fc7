// SPDX-License-Identifier: Apache-2.0

/// How soon a fetch gets its slot, among those that wait.
public enum FetchPriority: String, Sendable, Hashable, CaseIterable, Codable {
    /// After all others: refreshes in the background, warming the cache.
    case low
    /// What clients wait for.
    case normal
    /// Before all others.
    case high

    /// What `Priority` of RFC 9218 means here: urgency 0–2 is high, 3 (the default) and 4 normal, 5–7 low.
    ///
    /// Anything but a member `u` from 0 to 7 is passed over, as RFC 9218 §4 has it.
    public init(field value: String) {
        let member = value.split(separator: ",").last { $0.drop { $0 == " " || $0 == "\t" }.hasPrefix("u=") }
        let digits = member?.drop { $0 != "=" }.dropFirst().prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        switch digits.flatMap({ $0.utf8.count == 1 ? Int($0) : nil }) {
        case 0, 1, 2: self = .high
        case 5, 6, 7: self = .low
        default: self = .normal
        }
    }

    /// The place among the classes, the last one first.
    var rank: Int {
        switch self {
        case .low: 0
        case .normal: 1
        case .high: 2
        }
    }
}

extension FetchPriority: Comparable {
    /// Compares by who has to wait for whom.
    public static func < (left: FetchPriority, right: FetchPriority) -> Bool { left.rank < right.rank }
}
