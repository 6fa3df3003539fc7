// SPDX-License-Identifier: Apache-2.0

/// Families of addresses of the internet.
package struct AddressFamilies: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let ipv4 = AddressFamilies(rawValue: 1)
    package static let ipv6 = AddressFamilies(rawValue: 2)
}
