// SPDX-License-Identifier: Apache-2.0

// Prints the URLs that each library would load: base, source.
import Foundation
import Kingfisher
import Nuke
import SDWebImage
import SwiftUI

let proxy = ImageProxy(base: CommandLine.arguments[1])
guard let source = URL(string: CommandLine.arguments[2]) else { fatalError("no URL") }
let view = ProxyImage(source, width: 10, by: proxy).body
let shown = Mirror(reflecting: view).children.first { $0.label == "url" }?.value as? URL
print(shown?.absoluteString ?? "")
print(ImageRequest(source, width: 20, by: proxy).url?.absoluteString ?? "")
print(proxy.resource(for: source, width: 20)?.downloadURL.absoluteString ?? "")
let modifier = proxy.modifier(width: 20)
let once = modifier.modifiedRequest(with: URLRequest(url: source))
print(once?.url?.absoluteString ?? "")
// What goes to the proxy already is left alone.
print(once.flatMap(modifier.modifiedRequest)?.url?.absoluteString ?? "")
