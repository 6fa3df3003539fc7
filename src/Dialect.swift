// SPDX-License-Identifier: Apache-2.0

/// The URLs of another image proxy.
///
/// A dialect is a pure function from a target to parameters of `/img`, which its parser then checks like any
/// others: a foreign URL can't reach a source, a size or an option that `/img` would refuse.
package protocol Dialect: Sendable {
    /// The name in the configuration, such as `imgproxy`.
    static var name: String { get }

    /// Says what a target means.
    ///
    /// - Throws: which option has no equivalent or a wrong value; that the signature is wrong.
    func translate(_ target: ForeignTarget) throws(TranslationError) -> Translation
}
