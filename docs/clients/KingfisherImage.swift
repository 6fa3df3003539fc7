import Foundation
import Kingfisher

extension ImageProxy {
    /// A picture of the proxy: `imageView.kf.setImage(with: proxy.resource(for: source, width: 640))`.
    public func resource(for source: URL, width: Int) -> KF.ImageResource? {
        url(for: source, width: width).map { KF.ImageResource(downloadURL: $0, cacheKey: "\(source) \(width)") }
    }
}
