// SPDX-License-Identifier: Apache-2.0

/// A URL that is compared with many patterns: as it is spelt, and in the other forms that its path may be taken for.
struct URLCandidate {
    /// The normalised URL, other escapes as given.
    let spelt: URLPattern.Parts
    /// Path and query in normal form; nil where that is how they are spelt.
    let normalPath: [UInt8]?
    /// Path and query as a loose server may read them; nil where that is how they are spelt.
    let loosePath: [UInt8]?

    init(_ url: SourceURL) {
        spelt = URLPattern.split(url.normalized)
        guard URLPath.hasOtherForms(spelt.path) else {
            (normalPath, loosePath) = (nil, nil)
            return
        }
        normalPath = URLPath.normal(spelt.path)
        loosePath = URLPath.loose(spelt.path)
    }
}
