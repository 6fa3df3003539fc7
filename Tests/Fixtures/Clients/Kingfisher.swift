// SPDX-License-Identifier: Apache-2.0

// The part of Kingfisher that docs/clients uses.
import Foundation

public enum KF {
    public struct ImageResource {
        public let downloadURL: URL
        public let cacheKey: String
        public init(downloadURL: URL, cacheKey: String? = nil) {
            self.downloadURL = downloadURL
            self.cacheKey = cacheKey ?? downloadURL.absoluteString
        }
    }
}
