// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The variables of the environment: `IMAGEPROXYD_CACHE_MEMORY_MAX_BYTES` is `cache.memory.maxBytes`.
///
/// Names follow from the settings' paths: every setting has one and none is listed by hand.
enum EnvironmentNames {
    private static let prefix = "IMAGEPROXYD_"

    /// Whether a variable is meant for this daemon.
    static func isOurs(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// What an unknown variable probably stands for; empty when it resembles nothing.
    static func hint(for name: String, among names: some Sequence<String>) -> String {
        guard name != "\(prefix)CONFIG" else { return ", --config names the file" }
        // Without the prefix, which would make any two names similar.
        let near = nearest(
            to: String(name.dropFirst(prefix.count)), among: names.map { String($0.dropFirst(prefix.count)) })
        return near.map { ", did you mean \(prefix)\($0)?" } ?? ""
    }

    static let settings = Dictionary(
        uniqueKeysWithValues: ProxyConfiguration.settings.rows.map { (variable(for: $0.path), $0) })

    /// Returns the variable of a setting: a word begins at a capital after another character.
    private static func variable(for path: String) -> String {
        prefix + path.split(separator: ".").map(screaming).joined(separator: "_")
    }

    private static func screaming(_ key: Substring) -> String {
        var result = ""
        var previous: Character = "A"
        for character in key {
            if character.isUppercase, !previous.isUppercase { result += "_" }
            result += character.uppercased()
            previous = character
        }
        return result
    }

    /// Returns what a variable's text may mean, likeliest first; the first that fits its place is used.
    ///
    /// Lists are JSON or separated by commas, objects are JSON, everything else is text or a JSON word or
    /// number.
    /// - Throws: why the text for an object is not JSON.
    static func readings(of text: String, like value: JSONValue) throws(JSONSyntaxError) -> [JSONValue] {
        switch value {
        case .array: return lists(text)
        case .object:
            var parser = JSONParser(Array(text.utf8))
            return [try parser.parse()]
        default: return [.string(text), parsed(text)].compactMap(\.self)
        }
    }

    private static func lists(_ text: String) -> [JSONValue] {
        if text.hasPrefix("["), let list = parsed(text) { return [list] }
        let parts = text.split(separator: ",").map { String($0.trimmingBlanks) }
        let numbers = parts.compactMap(parsed)
        return [.strings(parts)] + (numbers.count == parts.count ? [.array(numbers)] : [])
    }

    private static func parsed(_ text: String) -> JSONValue? {
        var parser = JSONParser(Array(text.utf8))
        // Ignored: why it is not JSON; the text itself is then reported as the value that does not fit.
        return try? parser.parse()
    }
}
