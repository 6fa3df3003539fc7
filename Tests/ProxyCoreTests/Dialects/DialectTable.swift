// SPDX-License-Identifier: Apache-2.0

import Dialects
import Primitives
import Testing

/// A dialect's URL, and what it means: parameters of `/img` as they are spelt, without `url`.
struct Meaning: CustomTestStringConvertible {
    let target: String
    let parameters: String

    init(_ target: String, _ parameters: String) {
        self.target = target
        self.parameters = parameters
    }

    var testDescription: String { target }
}

extension Dialect {
    /// The parameters that a target means, without `url`; an error as its kind and option.
    func meaning(of target: String) -> String {
        do throws(TranslationError) {
            let translation = try translate(DialectTarget(target, now: 1_700_000_000))
            let parameters = translation.parameters.filter { $0.name != "url" }
            return parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        } catch {
            return "\(error.kind) \(error.option)"
        }
    }

    /// The source that a target names; an error as its kind and option.
    func source(of target: String) -> String {
        do throws(TranslationError) {
            return try translate(DialectTarget(target))["url"] ?? "none"
        } catch {
            return "\(error.kind) \(error.option)"
        }
    }
}
