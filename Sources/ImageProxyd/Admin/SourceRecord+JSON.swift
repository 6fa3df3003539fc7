// SPDX-License-Identifier: Apache-2.0

import Freshness
import Pipeline
import Primitives

extension SourceRecord {
    /// What an operator is told of it, at a time in seconds.
    func json(at now: Int64) -> JSONValue {
        [
            "key": .string("\(key)"),
            "format": .string(format.rawValue),
            "bytes": .integer(byteCount),
            "fresh": .bool(isFresh(at: now)),
            "age": .integer(Int(currentAge(at: now))),
            "lifetime": .integer(Int(freshnessLifetime)),
            "etag": entityTag.json,
            "lastModified": lastModified.json,
        ]
    }
}
