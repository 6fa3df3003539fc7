import Foundation
import SDWebImage

extension ImageProxy {
    /// Loads every picture of the app through the proxy, whose sources are whole URLs: set it as
    /// `SDWebImageDownloader.shared.requestModifier` once, at the start.
    public func modifier(width: Int) -> SDWebImageDownloaderRequestModifier {
        SDWebImageDownloaderRequestModifier { request in
            guard let source = request.url, !source.absoluteString.hasPrefix(base) else { return request }
            var request = request
            request.url = url(for: source, width: width)
            return request
        }
    }
}
