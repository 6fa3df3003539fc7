// SPDX-License-Identifier: Apache-2.0

import Primitives
import URLs

/// The variables that Kubernetes sets in each container for each Service: `IMAGEPROXYD_SERVICE_HOST` for one
/// called `imageproxyd`, `IMAGEPROXYD_ADMIN_PORT_8081_TCP` for one called `imageproxyd-admin`.
///
/// Recognized by name and value together: `IMAGEPROXYD_PORT=8080` is an operator's mistake,
/// `tcp://10.0.0.1:8080` is not.
enum ServiceVariables {
    /// Whether a variable that names no setting has the form of one of these.
    static func contains(_ name: String, _ value: String) -> Bool {
        func fits(_ form: Regex<Substring>) -> Bool { name.wholeMatch(of: form) != nil }
        return IPAddress(value) != nil && fits(/.*_(?:SERVICE_HOST|PORT_[0-9]+_(?:TCP|UDP|SCTP)_ADDR)/)
            || isPort(value) && fits(/.*_(?:SERVICE_PORT(?:_.+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)_PORT)/)
            || isEndpoint(value) && fits(/.*_PORT(?:_[0-9]+_(?:TCP|UDP|SCTP))?/)
            || ["tcp", "udp", "sctp"].contains(value.lowercased())
                && fits(/.*_PORT_[0-9]+_(?:TCP|UDP|SCTP)_PROTO/)
    }

    private static func isPort(_ text: String) -> Bool {
        UInt16(text) != nil && text.utf8.allSatisfy(\.isASCIIDigit)
    }

    /// `tcp://10.0.0.1:8080`, or `tcp://[fd00::1]:8080`.
    private static func isEndpoint(_ text: String) -> Bool {
        guard let match = text.wholeMatch(of: /(?:tcp|udp|sctp):\/\/(?:\[(.+)\]|(.+)):([0-9]+)/) else {
            return false
        }
        return IPAddress(String(match.1 ?? match.2 ?? "")) != nil && isPort(String(match.3))
    }
}
