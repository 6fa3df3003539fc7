// SPDX-License-Identifier: Apache-2.0

/// Targets that are no pictures', also where other proxies' URLs begin with `/`.
package struct ReservedTargets: Sendable {
    private let targets: Set<[UInt8]>
    private let path: [UInt8]
    /// The length of the longest of `targets`, in bytes: longer ones are not looked up.
    private let maxBytes: Int

    /// - Parameters:
    ///   - targets: whole targets.
    ///   - path: one that may have a query.
    package init(_ targets: Set<[UInt8]>, withQuery path: [UInt8]) {
        self.targets = targets
        self.path = path
        maxBytes = targets.map(\.count).max() ?? 0
    }

    /// Hot path: whether a target is one of them, whatever the method.
    func contains(_ target: UnsafeRawBufferPointer) -> Bool {
        if unsafe target.starts(with: path) {
            return unsafe target.count == path.count || target[path.count] == UInt8(ascii: "?")
        }
        return unsafe target.count <= maxBytes && targets.contains(Array(target))
    }
}
