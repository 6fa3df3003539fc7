// SPDX-License-Identifier: Apache-2.0

@testable import HTTPServer

extension HTTPRequest {
    /// All visible parts of a request, to be compared.
    var parts: [[UInt8]] {
        var parts = [Array(method.rawValue.utf8), Array(target.utf8), [isHTTP10 ? 0 : 1]]
        for line in lines {
            let known: UInt8 = line.known?.rawValue ?? .max
            parts += [Array(head[line.name]), [known], Array(head[line.value])]
        }
        parts.append(KnownField.allCases.filter(present.contains).map(\.rawValue))
        parts.append(KnownField.allCases.filter(repeats).map(\.rawValue))
        return parts
    }
}
