import Foundation
import SwiftUI

/// A picture of the proxy in the pixels that this screen has.
public struct ProxyImage: View {
    let proxy: ImageProxy
    let source: URL
    let width: Double
    @Environment(\.displayScale) private var scale

    public init(_ source: URL, width: Double, by proxy: ImageProxy) {
        (self.source, self.width, self.proxy) = (source, width, proxy)
    }

    public var body: some View {
        AsyncImage(url: proxy.url(for: source, width: Int((width * Double(scale)).rounded(.up)))) { image in
            image.resizable().scaledToFit()
        } placeholder: {
            Color.gray
        }
    }
}
