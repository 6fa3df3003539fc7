import Foundation
import Nuke

extension ImageRequest {
    /// A picture of the proxy, for `ImagePipeline`, `LazyImage` and `ImagePrefetcher`.
    public init(_ source: URL, width: Int, by proxy: ImageProxy) {
        self.init(url: proxy.url(for: source, width: width))
    }
}
