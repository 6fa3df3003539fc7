// SPDX-License-Identifier: Apache-2.0

/// An absolute `http` or `https` URL, normalised by libcurl's URL API. (Skeleton: the loading room fills it.)
public struct SourceURL: Sendable, Hashable {
    /// Scheme and host in lower case, default port, dot segments and fragment removed, other escapes as given.
    public let normalized: String
}
