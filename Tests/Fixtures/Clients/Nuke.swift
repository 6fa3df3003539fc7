// SPDX-License-Identifier: Apache-2.0

// The part of Nuke that docs/clients uses.
import Foundation

public struct ImageRequest {
    public let url: URL?
    public init(url: URL?) { self.url = url }
}
