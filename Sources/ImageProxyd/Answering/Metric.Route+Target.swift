// SPDX-License-Identifier: Apache-2.0

package import Observability

extension Metric.Route {
    /// The routes by their paths, the most frequent first.
    private static let table: [(path: StaticString, route: Metric.Route)] = [
        ("/img", .img), ("/healthz", .healthz), ("/readyz", .readyz), ("/metrics", .metrics),
        ("/info", .info), ("/transforms", .transforms), ("/srcset", .srcset),
    ]

    /// Hot path: the route of a target: its path, up to the query.
    package init(of target: UnsafeRawBufferPointer) {
        for (path, route) in Self.table where unsafe Self.has(path, target) {
            self = route
            return
        }
        self = .other
    }

    private static func has(_ path: StaticString, _ target: UnsafeRawBufferPointer) -> Bool {
        let count = path.utf8CodeUnitCount
        guard target.count >= count else { return false }
        if target.count > count, unsafe target[count] != UInt8(ascii: "?") { return false }
        for index in 0..<count where unsafe target[index] != path.utf8Start[index] { return false }
        return true
    }
}
