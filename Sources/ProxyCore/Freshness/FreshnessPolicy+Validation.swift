// SPDX-License-Identifier: Apache-2.0

import Primitives

extension FreshnessPolicy {
    /// Whether a 304 confirms the stored response (RFC 9111 §4.3.4).
    ///
    /// Its entity tag must be the stored one, by weak comparison, since some origins weaken their tags in
    /// transit; without a tag its `Last-Modified` must be the stored one. A 304 without validators confirms
    /// those of the request.
    package static func confirms(_ head: OriginHead, _ record: SourceRecord) -> Bool {
        if let tag = head.values(of: "etag").first {
            return record.reuse.entityTag.map { opaque($0) == opaque(tag) } ?? false
        }
        guard let modified = head.values(of: "last-modified").first else { return true }
        guard let stored = record.reuse.lastModified else { return record.reuse.entityTag != nil }
        return modified == stored
            || HTTPDate(modified, now: head.responseTime.seconds)
                == HTTPDate(stored, now: head.responseTime.seconds)
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}
