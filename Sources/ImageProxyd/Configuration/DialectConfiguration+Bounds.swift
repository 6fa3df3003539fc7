// SPDX-License-Identifier: Apache-2.0

extension ProxyConfiguration {
    /// The dialects' own settings are checked once their files are read.
    func dialectBounds(_ check: inout ConfigurationCheck) {
        for (index, dialect) in dialects.enumerated() {
            let isPath =
                dialect.prefix.hasPrefix("/") && dialect.prefix.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            check.require(
                "dialects.\(index).prefix", dialect.prefix, isPath && !dialect.prefix.contains("?"),
                allowed: "a path such as / or /old")
            check.require(
                "dialects.\(index).prefix", dialect.prefix,
                dialects.count { $0.prefix == dialect.prefix } == 1, allowed: "another path for each dialect")
        }
    }
}
