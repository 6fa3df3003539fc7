// SPDX-License-Identifier: Apache-2.0

import Freshness
import Imaging
import Pipeline
import Primitives

extension SourceRecord {
    /// The record in answers to operators.
    func json(at now: WallTime) -> JSONValue {
        [
            "key": .string("\(key)"),
            "format": .string(format.rawValue),
            "bytes": .integer(byteCount),
            "fresh": .bool(isFresh(at: now)),
            "age": .integer(Int(currentAge(at: now))),
            "lifetime": .integer(Int(reuse.freshnessLifetime)),
            "etag": reuse.entityTag.json,
            "lastModified": reuse.lastModified.json,
        ]
    }
}
