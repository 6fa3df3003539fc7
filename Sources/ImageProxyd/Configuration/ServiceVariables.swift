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
        let words = name.split(separator: "_", omittingEmptySubsequences: false)
        // One for each position at which the Service's own name may end.
        return words.indices.dropFirst().contains { start in
            isSuffix(words[start...].joined(separator: "_"), value)
        }
    }

    private static func isSuffix(_ suffix: String, _ value: String) -> Bool {
        switch suffix {
        case "SERVICE_HOST": return IPAddress(value) != nil
        case "SERVICE_PORT",
            _ where hasName(suffix, behind: "SERVICE_PORT_"):
            return isPort(value)
        case "PORT": return isEndpoint(value)
        default: break
        }
        let words = suffix.split(separator: "_", omittingEmptySubsequences: false)
        guard words.count >= 3, words[0] == "PORT", isPort(String(words[1])),
            protocols.contains(String(words[2]))
        else { return false }
        switch words.dropFirst(3).joined(separator: "_") {
        case "": return isEndpoint(value)
        case "PROTO": return protocols.contains(value.uppercased())
        case "PORT": return isPort(value)
        case "ADDR": return IPAddress(value) != nil
        default: return false
        }
    }

    private static func hasName(_ suffix: String, behind start: String) -> Bool {
        suffix.hasPrefix(start) && suffix.utf8.count > start.utf8.count
    }

    private static let protocols: Set<String> = ["TCP", "UDP", "SCTP"]

    private static func isPort(_ text: String) -> Bool {
        UInt16(text) != nil && text.utf8.allSatisfy(\.isASCIIDigit)
    }

    /// `tcp://10.0.0.1:8080`, or `tcp://[fd00::1]:8080`.
    private static func isEndpoint(_ text: String) -> Bool {
        guard let scheme = protocols.first(where: { text.hasPrefix("\($0.lowercased())://") }) else {
            return false
        }
        let authority = text.dropFirst(scheme.utf8.count + 3)
        guard let colon = authority.lastIndex(of: ":"),
            isPort(String(authority[authority.index(after: colon)...]))
        else { return false }
        let host = authority[..<colon]
        return IPAddress(
            String(host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host)) != nil
    }
}
