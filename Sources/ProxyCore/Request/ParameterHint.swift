// SPDX-License-Identifier: Apache-2.0

import Imaging
import Primitives

/// Parameters of `/img` as other programs name them, for hints in errors.
enum ParameterHint {
    /// What an unknown parameter probably stands for; nil when it resembles nothing.
    static func hint(for name: String) -> String? {
        let name = name.lowercased()
        if TransformRegistry.byName[String(name.prefix { $0 != ":" })] != nil {
            return "operations belong to 'transform', such as transform=\(name.excerpt)"
        }
        if name.hasPrefix("amp;") { return "'&' in a URL is not written as '&amp;'" }
        if sizes.contains(name) { return "a size is written as transform=resize:300x200" }
        if fits.contains(name) { return "a crop is written as transform=resize:300x200:cover" }
        if let own = synonyms[name] { return "did you mean '\(own)'?" }
        if let own = suggestion(for: name, among: ImageRequestParser.parameterNames) { return own }
        return nearest(to: name, among: TransformRegistry.byName.keys).map {
            "did you mean the operation '\($0)'? Operations belong to 'transform'"
        }
    }

    private static let sizes: Set<String> = ["w", "h", "width", "height", "size", "s", "rs"]
    private static let fits: Set<String> = ["fit", "c", "g", "gravity", "mode"]
    private static let synonyms = [
        "q": "quality", "fm": "format", "f": "format", "ext": "format", "output": "format", "type": "format",
        "src": "url", "u": "url", "image": "url", "t": "transform", "tr": "transform",
        "exp": "expires", "s64": "url64", "signature": "sig", "strip": "metadata", "page": "frame",
    ]
}
