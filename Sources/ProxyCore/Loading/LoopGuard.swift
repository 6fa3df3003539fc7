// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Recognizes a request that this daemon has sent itself, also through proxies (RFC 8586, RFC 9110 §7.6.3).
package struct LoopGuard: Sendable, Hashable {
    private let name: [UInt8]

    /// The maximum number of bytes of either field: a longer list of proxies counts as a loop, too.
    private static let maxBytes = 1_024

    /// - Parameter name: `fetch.via`, the daemon's name for origins.
    package init(name: String) {
        self.name = Array(name.lowercased().utf8)
    }

    /// Whether a request with these `CDN-Loop` and `Via` fields has passed this daemon, or too many proxies.
    package func hasPassed(cdnLoop: [String], via: [String]) -> Bool {
        [cdnLoop, via].contains { $0.reduce(0) { $0 + $1.utf8.count } > Self.maxBytes }
            || cdnLoop.contains { Self.members($0).contains { isOurs($0) } }
            || via.contains { Self.members($0).contains { isOurs(Self.receivedBy($0)) } }
    }

    /// Hot path: whether a value of one of the two fields needs to be parsed: it contains the daemon's name,
    /// or is very long.
    package func mayConcern(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count <= Self.maxBytes / 4 else { return true }
        guard value.count >= name.count else { return false }
        for start in 0...(value.count - name.count) where unsafe holdsName(value, at: start) { return true }
        return false
    }

    private func holdsName(_ value: UnsafeRawBufferPointer, at start: Int) -> Bool {
        for (index, byte) in name.enumerated() {
            let other = unsafe value[start + index]
            // Letters in lower case; the daemon's name is a token in lower case.
            guard ((0x41...0x5A).contains(other) ? other | 0x20 : other) == byte else { return false }
        }
        return true
    }

    private func isOurs(_ text: Substring) -> Bool {
        text.utf8.count == name.count && text.lowercased().utf8.elementsEqual(name)
    }

    /// Returns the members of a list without their parameters and comments.
    private static func members(_ value: String) -> [Substring] {
        value.listMembers.map { member in
            let end =
                member.utf8.firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "(") }
                ?? member.endIndex
            return member[..<end].trimmingBlanks
        }
    }

    /// Returns `received-by`, the word after the protocol.
    private static func receivedBy(_ member: Substring) -> Substring {
        guard let blank = member.firstIndex(where: { $0 == " " || $0 == "\t" }) else { return "" }
        return member[blank...].trimmingBlanks
    }
}
