// SPDX-License-Identifier: Apache-2.0

import Primitives

extension ObjectStore {
    /// Writes, reads, lists and deletes an object, as the tier does; says which of them failed and why, nil if none did.
    package func trial() async -> String? {
        let name = "trial/\(UInt64.random(in: 0...UInt64.max))"
        let content = Array("imageproxyd shared check".utf8)
        var step = "writing an object"
        do throws(ExchangeError) {
            try await put(name, content, metadata: ["age": "0"])
            step = "reading it"
            guard let found = try await get(name, atMost: 1 << 10), found.content == content else {
                return "reading it: the store returned other bytes than were written"
            }
            guard found.metadata["age"] == "0" else {
                return "reading it: the store lost the object's metadata (x-amz-meta-age)"
            }
            step = "listing the bucket"
            guard try await list(name).objects.map(\.name) == [name] else {
                return "listing the bucket: the object that was just written is not in the list"
            }
            step = "deleting two objects"
            try await delete([name, name + "-2"])
            guard try await get(name, atMost: 1 << 10) == nil else {
                return "deleting two objects: one is still there"
            }
            return nil
        } catch {
            return "\(step): \(error)"
        }
    }
}
