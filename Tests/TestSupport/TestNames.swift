// SPDX-License-Identifier: Apache-2.0

import CTestResolver
import Synchronization

/// The addresses of names in `.test`, in this process; all others are resolved by the system.
public enum TestNames {
    private struct Name {
        var answers: [[String]]
        var lookUps = 0
    }

    private static let names = Mutex<[String: Name]>([:])
    private static let isInstalled: Void = test_resolver_install { name, answer, capacity in
        guard let name = name, let answer = answer else { return 0 }
        let text = Array(TestNames.lookUp(String(cString: name)).utf8)
        guard text.count <= capacity else { return 0 }
        for (index, byte) in text.enumerated() { answer[index] = CChar(bitPattern: byte) }
        return text.count
    }

    /// Makes `name` resolve to one list of addresses after the other; the last one stays.
    public static func set(_ name: String, to answers: [String]...) {
        precondition(name.hasSuffix(".test") || name.hasSuffix(".onion"), "\(name) is not ours")
        _ = isInstalled
        names.withLock { $0[name] = Name(answers: answers) }
    }

    /// How often `name` has been looked up.
    public static func lookUps(of name: String) -> Int {
        names.withLock { $0[name]?.lookUps ?? 0 }
    }

    private static func lookUp(_ name: String) -> String {
        names.withLock { names in
            guard let known = names[name] else { return "" }
            names[name]?.lookUps += 1
            return known.answers[min(known.lookUps, known.answers.count - 1)].joined(separator: ",")
        }
    }
}
