// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc

extension CurlHandle {
    /// The reason of the failure in the words of the part that knows most: the kernel, TLS or libcurl.
    ///
    /// Without the name of the host, which `log.url` says or leaves out.
    func explained(_ ending: Ending, ofHost host: String) -> Ending {
        switch ending {
        case .nameNotResolved: .nameNotResolved("the name does not resolve")
        case .notConnected(let text): .notConnected(systemError ?? text)
        case .tls(let text): .tls(details(without: host) ?? text)
        case .broken(let text): .broken(details(without: host) ?? text)
        case .complete, .timedOut, .refused: ending
        }
    }

    /// The kernel's reason for a connection that did not come about, such as `connection refused`.
    private var systemError: String? {
        let code = CInt(truncatingIfNeeded: unsafe ccurl_get_long(raw, CURLINFO_OS_ERRNO))
        guard code != 0 else { return nil }
        // Safe because strerror's text is copied at once, and is the calling thread's own (glibc 2.32).
        let text = unsafe String(cString: strerror(code))
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// What libcurl wrote of this failure, with `HOST` in place of the host's name.
    private func details(without host: String) -> String? {
        let text = errorText
        guard !text.isEmpty else { return nil }
        // TLS knows an IPv6 address without its brackets.
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let core = word.drop { Self.quotes.contains($0) }.prefix { !Self.quotes.contains($0) }
            return core == name ? "HOST" : String(word)
        }
        return words.joined(separator: " ")
    }

    private static let quotes: Set<Character> = ["'", "\"", "(", ")", ",", ";"]
}
