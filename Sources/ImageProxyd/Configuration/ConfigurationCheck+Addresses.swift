// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer

extension ConfigurationCheck {
    /// Requires that no two of the addresses overlap; with port 0 each gets a port of its own.
    /// - Parameter count: how many of them belong to the setting; the others are another listener's. All if
    ///   nil.
    mutating func requireDistinct(_ path: String, _ addresses: [HTTPServer.Address], count: Int? = nil) {
        for (index, address) in addresses.prefix(count ?? addresses.count).enumerated() {
            guard let other = addresses[(index + 1)...].first(where: { address.overlaps($0) }) else {
                continue
            }
            refuse(path, address.description, allowed: "addresses that differ; \(other) takes the same place")
        }
    }
}

extension HTTPServer.Address {
    /// Whether only one of the two can be listened on: they are equal, or one stands for all addresses of the
    /// machine.
    func overlaps(_ other: HTTPServer.Address) -> Bool {
        switch (self, other) {
        case (.unix(let path), .unix(let otherPath)): return path == otherPath
        case (.tcp(let host, let port), .tcp(let otherHost, let otherPort)):
            guard port != 0, port == otherPort else { return false }
            return host == otherHost || Self.covers(host, otherHost) || Self.covers(otherHost, host)
        default: return false
        }
    }

    /// Whether a host means every address of the other's family; `::` includes those of IPv4.
    private static func covers(_ host: String, _ other: String) -> Bool {
        host == "::" || host == "0.0.0.0" && !other.contains(":")
    }
}
