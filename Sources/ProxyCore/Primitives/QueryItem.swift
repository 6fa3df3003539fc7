// SPDX-License-Identifier: Apache-2.0

/// One parameter of a request for an image, decoded.
package struct QueryItem: Sendable, Hashable {
    /// The name, such as `transform`.
    package var name: String
    package var value: String

    /// Wraps a name and a value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
