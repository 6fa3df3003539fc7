// SPDX-License-Identifier: Apache-2.0

// The part of SDWebImage that docs/clients uses, as Swift sees it.
import Foundation

#if canImport(FoundationNetworking)
    @_exported import FoundationNetworking
#endif

public final class SDWebImageDownloaderRequestModifier {
    private let block: (URLRequest) -> URLRequest?
    public init(block: @escaping (URLRequest) -> URLRequest?) { self.block = block }
    public func modifiedRequest(with request: URLRequest) -> URLRequest? { block(request) }
}
