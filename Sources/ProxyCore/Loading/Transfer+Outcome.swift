// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Origins
import Primitives
import URLs

/// The next step after a hop has ended.
extension Transfer {
    /// The next step of a fetch.
    enum Next {
        /// The response has been delivered completely.
        case success
        /// The fetch has failed.
        case failure(LoadError)
        /// Repeats the same hop.
        case retry
        /// Repeats the same hop at once, on a new connection.
        case anew(ConnectionFault)
        /// Follows a redirect.
        case follow(SourceURL)
    }

    /// Decides the next step; `isAllowed` is called with the target of a redirect.
    func next(after ending: CurlHandle.Ending, isAllowed: (SourceURL) -> Bool) -> Next {
        switch hop.verdict {
        case .redirect(let location): return redirected(to: location, isAllowed)
        case .refused(let error): return .failure(error)
        case .delivering where ending == .complete: return completed
        case .open:
            // Only a reused connection is checked, so this happens once per hop.
            if let fault = hop.connectionFault, !needsFreshConnection { return .anew(fault) }
            if isWithoutDescriptors(ending) { return .failure(.queueFull) }
            return canRetry(after: ending) ? .retry : .failure(attributed(failure(for: ending)))
        case .delivering: return .failure(failure(for: ending))
        }
    }

    private var completed: Next {
        do throws(LoadError) {
            try finishBody()
            return .success
        } catch {
            return .failure(error)
        }
    }

    /// Decides the next step after one of the loader's own deadlines has passed; a verdict remains valid.
    func next(afterPassing phase: LoadError.Phase, isAllowed: (SourceURL) -> Bool) -> Next {
        switch hop.verdict {
        case .redirect(let location): redirected(to: location, isAllowed)
        case .refused(let error): .failure(error)
        // A 304 has no body.
        case .delivering where deliveredStatus == 304: completed
        case .open, .delivering: .failure(attributed(.timedOut(phase)))
        }
    }

    private func redirected(to location: String?, _ isAllowed: (SourceURL) -> Bool) -> Next {
        let most = rules.configuration.maxRedirects
        guard redirects < most else {
            return .failure(.tooManyRedirects("more than fetch.maxRedirects, which is \(most)"))
        }
        guard let location else { return .failure(.tooManyRedirects("a redirect has no Location")) }
        do {
            let target = try url.resolving(location: location)
            guard isAllowed(target) || job.request.rule?.isRewriteTarget(target) == true else {
                return .failure(
                    .redirectForbidden("no pattern of security.sources allows it", to: target.origin))
            }
            return .follow(target)
        } catch {
            return .failure(Self.failure(for: error, to: url.origin(ofRefused: location)))
        }
    }

    private static func failure(for error: SourceURLError, to target: SourceURL.Origin?) -> LoadError {
        switch error {
        case .unsupportedScheme: .redirectForbidden("its scheme is neither http nor https", to: target)
        case .userInfo: .redirectForbidden("it has a user name or a password", to: target)
        case .unknownBucket, .tooLong, .notAbsolute, .forbiddenCharacter, .nonASCIIHost, .invalidHost,
            .invalidPort,
            .malformed:
            .tooManyRedirects("a redirect's Location is no valid URL")
        }
    }

    /// Only before any byte was sent, and only if another attempt may succeed. A name with forbidden
    /// addresses is retried as often as one that does not resolve; otherwise the time would distinguish them.
    private func canRetry(after ending: CurlHandle.Ending) -> Bool {
        guard retries < rules.configuration.retries else { return false }
        switch ending {
        case .nameNotResolved, .notConnected: return true
        case .complete, .tls, .timedOut, .refused, .broken: return false
        }
    }

    /// Whether a look-up or a TLS handshake failed because no file can be opened: libraries need some, and do
    /// not report that.
    private func isWithoutDescriptors(_ ending: CurlHandle.Ending) -> Bool {
        switch ending {
        case .nameNotResolved, .tls: break
        case .complete, .notConnected, .timedOut, .refused, .broken: return false
        }
        let descriptor = unsafe linux_open("/dev/null", O_RDONLY | O_CLOEXEC, 0)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return errno == EMFILE || errno == ENFILE
    }

    private func failure(for ending: CurlHandle.Ending) -> LoadError {
        if isAddressForbidden(ending) { return addressError }
        let hasHead = hop.head.hasBegun
        switch ending {
        case .nameNotResolved(let text), .notConnected(let text): return .unreachable(text)
        case .tls(let text): return .tlsFailed(text)
        case .timedOut: return .timedOut(hasSentRequest ? .transfer : .connect)
        case .complete: return .incomplete("no response")
        case .refused: return .incomplete("refused")
        case .broken(let text):
            guard !hasHead else { return .incomplete(text) }
            return hasSentRequest ? .disconnected(text) : .unreachable(text)
        }
    }

    /// The failure as the proxy's, if the request got no further.
    ///
    /// TLS ends at the origin, but before a proxy with `https` has answered.
    private func attributed(_ error: LoadError) -> LoadError {
        guard !hasSentRequest, let proxy = rules.configuration.proxyOrigin else { return error }
        switch error {
        case .unreachable, .timedOut(.connect): return .atProxy(proxy, error)
        case .tlsFailed where proxy.scheme == "https" && handle?.hasProxyAnswered == false:
            return .atProxy(proxy, error)
        default: return error
        }
    }

    /// Why an address of the hop can't be used: it is in the URL, or the resolver returned it.
    var addressError: LoadError { url.literalAddress == nil ? .nameForbidden : .forbiddenNetwork }

    /// Whether the hop failed because all addresses of the origin are forbidden.
    ///
    /// libcurl reports a refused socket as a failed connection. If another address was tried, too, that one's
    /// failure counts.
    private func isAddressForbidden(_ ending: CurlHandle.Ending) -> Bool {
        guard case .notConnected = ending else { return false }
        return hop.didRefuseAddress && !hop.didOpenSocket
    }
}
