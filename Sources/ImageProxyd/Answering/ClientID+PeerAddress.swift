// SPDX-License-Identifier: Apache-2.0

package import HTTPServer
package import Primitives

extension ClientID {
    /// The client at an address; nil for a unix socket, whose clients can't be distinguished.
    package init?(_ address: PeerAddress) {
        switch address {
        case .unix: return nil
        case .v4(let address): self.init(v4: address)
        case .v6(let high, let low): self.init(v6: high, low)
        }
    }
}
