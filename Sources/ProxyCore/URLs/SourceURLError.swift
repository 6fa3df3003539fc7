// SPDX-License-Identifier: Apache-2.0

/// Why a text is not a source URL.
package enum SourceURLError: Error, Sendable, Hashable {
    /// Longer than `SourceURL.maxBytes`.
    case tooLong
    /// No scheme with `://` and a host after it: relative, `http:/x`, `http:///x`.
    case notAbsolute
    /// A scheme other than `http` and `https`; carries it in lower case.
    case unsupportedScheme(String)
    /// A bucket that the configuration does not name; carries it as `s3://name/`.
    case unknownBucket(String)
    /// A user name or password before the host.
    case userInfo
    /// A space or control character; carries its offset in bytes.
    case forbiddenCharacter(Int)
    /// A host with non-ASCII characters; such a name has to be given in its `xn--` form.
    case nonASCIIHost
    /// A host that is neither a name, nor an IPv4 address, nor an IPv6 address in brackets without a zone.
    case invalidHost
    /// A port that is no number from 1 to 65535.
    case invalidPort
    /// Anything else that libcurl refuses; carries its reason.
    case malformed(String)
}
