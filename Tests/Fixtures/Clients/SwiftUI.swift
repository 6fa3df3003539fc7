// SPDX-License-Identifier: Apache-2.0

// The parts of SwiftUI that docs/clients uses, to compile it where there is no SwiftUI.
import Foundation

public protocol View {
    associatedtype Body
    var body: Body { get }
}
public struct EnvironmentValues { public var displayScale: Double { 2 } }
@propertyWrapper public struct Environment<Value> {
    public let wrappedValue: Value
    public init(_ path: KeyPath<EnvironmentValues, Value>) {
        wrappedValue = EnvironmentValues()[keyPath: path]
    }
}
public struct Image: View {
    public var body: Never { fatalError("drawn by the system") }
    public func resizable() -> Image { self }
    public func scaledToFit() -> some View { self }
}
extension Never: View { public var body: Never { fatalError("never") } }
public struct Color: View {
    public static let gray = Color()
    public var body: Never { fatalError("drawn by the system") }
}
public struct AsyncImage<Content: View, Placeholder: View>: View {
    public let url: URL?
    public init(
        url: URL?, scale: Double = 1, content: @escaping (Image) -> Content,
        placeholder: @escaping () -> Placeholder
    ) { self.url = url }
    public var body: Never { fatalError("drawn by the system") }
}
