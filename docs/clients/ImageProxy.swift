// The URLs of pictures, for every library below. An app must not hold a signing key: where URLs are signed, its server
// gets them from /srcset, and the app uses those.

import Foundation

public struct ImageProxy: Sendable {
    public let base: String

    /// - Parameter base: where the daemon is, such as https://images.example.org.
    public init(base: String) { self.base = base }

    /// The URL of a picture that is `width` pixels wide: points times the screen's scale.
    public func url(for source: URL, width: Int, quality: Int? = nil) -> URL? {
        var unreserved = CharacterSet.alphanumerics
        unreserved.insert(charactersIn: "-._~")
        guard let encoded = source.absoluteString.addingPercentEncoding(withAllowedCharacters: unreserved) else {
            return nil
        }
        let options = quality.map { "&quality=\($0)" } ?? ""
        return URL(string: "\(base)/img?url=\(encoded)&transform=resize:\(width)x\(options)")
    }
}
