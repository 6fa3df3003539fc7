// SPDX-License-Identifier: Apache-2.0

/// A request method (RFC 9110 §9). Names are case-sensitive.
public enum HTTPMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case options = "OPTIONS"
    case trace = "TRACE"
    case connect = "CONNECT"
    case patch = "PATCH"
    /// Used by caches for invalidation; not in RFC 9110.
    case purge = "PURGE"

    /// Reads a method's bytes; nil for one that is not known.
    init?(_ bytes: UnsafeRawBufferPointer) {
        for method in HTTPMethod.allCases where unsafe method.rawValue.utf8.elementsEqual(bytes) {
            self = method
            return
        }
        return nil
    }
}
