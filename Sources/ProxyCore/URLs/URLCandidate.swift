// SPDX-License-Identifier: Apache-2.0

/// A URL that is compared with many patterns: as it is spelt, and in the other forms of its path.
package struct URLCandidate {
    /// The normalized URL, other escapes as given.
    let spelt: URLPattern.Parts
    /// Path and query in normal form; nil if that equals their spelling.
    let normalPath: [UInt8]?
    /// Path and query as a lenient server may read them; nil if that equals their spelling.
    package let loosePath: [UInt8]?

    package init(_ url: SourceURL) {
        spelt = URLPattern.split(url.normalized)
        guard URLPath.hasOtherForms(spelt.path) else {
            (normalPath, loosePath) = (nil, nil)
            return
        }
        normalPath = URLPath.normal(spelt.path)
        loosePath = URLPath.loose(spelt.path)
    }
}
