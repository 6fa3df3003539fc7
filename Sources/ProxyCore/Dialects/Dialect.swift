// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The URLs of another image proxy.
///
/// A dialect is a pure function from a target to parameters of `/img`, which its parser then checks like any
/// others: a dialect's URL can't reach a source, a size or an option that `/img` would refuse.
package protocol Dialect: Sendable {
    /// The settings that the other proxy has, too.
    associatedtype Settings: DialectSettings

    /// The name in the configuration, such as `imgproxy`.
    static var name: String { get }

    /// Prepares a dialect.
    ///
    /// - Parameters:
    ///   - settings: those of its element of `dialects`.
    ///   - keys: the bytes of the files that `settings.secretFiles` names, without a final newline.
    /// - Throws: what is wrong with which setting.
    init(_ settings: Settings, keys: [[UInt8]]) throws(TranslationError)

    /// The same for explanations of URLs alone, whose proxy has other settings: takes any signature and none,
    /// and any source.
    ///
    /// - Parameter site: where the URL is from, such as `https://example.org/`, if the paths in it are that
    ///   site's; nil where that is not known.
    func withoutAccessChecks(at site: String?) -> Self

    /// Says what a target means.
    ///
    /// - Throws: which option has no equivalent or a wrong value; that the signature is wrong.
    func translate(_ target: DialectTarget) throws(TranslationError) -> Translation

    /// Whether `/info` is one of its paths, which then takes the place of ours if it is served below `/`.
    var answersInformation: Bool { get }

    /// Whether a request may bring the picture as its body.
    var takesBodies: Bool { get }

    /// Facts about a picture in the form of the other proxy.
    ///
    /// - Parameters:
    ///   - information: what `/info` says of the source.
    ///   - target: the URL that requests them.
    func facts(
        from information: JSONValue, for target: DialectTarget
    ) throws(TranslationError) -> JSONValue

    /// The field of a request in which a key may stand in place of the URL; nil if there is none.
    var keyField: String? { get }

    /// Whether answers name the picture's size in `Image-Width` and `Image-Height`.
    var namesSize: Bool { get }

    /// The status that the other proxy has for what is answered with this one here.
    /// - Parameters:
    ///   - status: ours.
    ///   - code: our code of the error.
    func compatibleStatus(of status: Int, code: String) -> Int

    /// An error in the form of the other proxy; nil if it has none that clients read.
    func compatibleError(_ message: String, status: Int) -> JSONValue?
}

extension Dialect {
    package func withoutAccessChecks(at site: String?) -> Self { self }

    package var answersInformation: Bool { false }

    package var takesBodies: Bool { false }

    package func facts(
        from information: JSONValue, for target: DialectTarget
    ) throws(TranslationError) -> JSONValue {
        information
    }

    package var keyField: String? { nil }

    package var namesSize: Bool { false }

    package func compatibleStatus(of status: Int, code: String) -> Int { status }

    package func compatibleError(_ message: String, status: Int) -> JSONValue? { nil }
}

/// The settings of a dialect; its rows are the keys in the configuration.
package protocol DialectSettings: SettingObject {
    /// The files with secrets, in the order in which a dialect takes their bytes, each with its place in the settings.
    var secretFiles: [(setting: String, path: String)] { get }
    /// The watermarks of the configuration that are named, with the place of each name.
    var watermarkNames: [(setting: String, name: String)] { get }
}

extension DialectSettings {
    package var secretFiles: [(setting: String, path: String)] { [] }
    package var watermarkNames: [(setting: String, name: String)] { [] }

    /// Those of a setting that is a list of paths.
    static func secrets(_ setting: String, _ paths: [String]) -> [(setting: String, path: String)] {
        paths.enumerated().map { ("\(setting).\($0)", $1) }
    }

    /// Those of the setting `watermarks`, which has them by their URLs.
    static func named(in watermarks: [String: String]) -> [(setting: String, name: String)] {
        watermarks.sorted { $0.key < $1.key }.map { ("watermarks.\($0.key)", $0.value) }
    }
}

/// All dialects.
package enum DialectRegistry {
    /// In the order of the documentation.
    package static let all: [any Dialect.Type] = [
        ImgproxyDialect.self, Thumbor.self, Imaginary.self, Weserv.self, Cloudflare.self, Imgix.self,
        NextJS.self,
    ]

    /// Their names, in the same order.
    package static var names: [String] { all.map { $0.name } }

    package static func named(_ name: String) -> (any Dialect.Type)? { all.first { $0.name == name } }
}
