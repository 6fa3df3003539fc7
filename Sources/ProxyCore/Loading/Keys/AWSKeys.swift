// SPDX-License-Identifier: Apache-2.0

import Origins
import Primitives

/// What a request is signed with.
struct AWSKeys: Sendable, Hashable {
    /// The key's name.
    let name: Secret
    let key: Secret
    /// What goes with a temporary key.
    var sessionToken: Secret?
    /// When the key is no longer valid, in seconds since 1970; nil where the source does not say.
    var expiry: Int64?

    /// Whether they may be used.
    func isValid(at now: Int64) -> Bool { expiry.map { $0 > now } ?? true }
}

/// Why there are no keys; never contains a secret.
struct AWSKeyFailure: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

extension AWSKeys {
    /// The keys in the JSON object of a metadata service.
    init(json bytes: [UInt8]) throws(AWSKeyFailure) {
        var parser = JSONParser(bytes)
        // Ignored: where it is no JSON; the text may hold secrets.
        guard let object = try? parser.parse() else { throw AWSKeyFailure("its answer is no JSON") }
        func text(_ name: String) -> String? {
            if case .string(let text) = object[name] { text } else { nil }
        }
        if let code = text("Code"), code != "Success" {
            throw AWSKeyFailure("its answer has the code \(code.prefix(64))")
        }
        try self.init(
            name: text("AccessKeyId"), key: text("SecretAccessKey"), token: text("Token"),
            expiration: text("Expiration"))
    }

    /// The keys in the XML document of the Security Token Service.
    init(xml bytes: [UInt8]) throws(AWSKeyFailure) {
        let document = XMLText(String(decoding: bytes, as: UTF8.self)[...])
        try self.init(
            name: document.element("AccessKeyId"), key: document.element("SecretAccessKey"),
            token: document.element("SessionToken"), expiration: document.element("Expiration"))
    }

    private init(name: String?, key: String?, token: String?, expiration: String?) throws(AWSKeyFailure) {
        guard let name, let key, let token, let expiration else {
            throw AWSKeyFailure("its answer lacks keys, a token or their expiration")
        }
        guard [name, key, token].allSatisfy({ !$0.isEmpty && FieldSyntax.isValue($0) }) else {
            throw AWSKeyFailure("its answer has keys with control characters")
        }
        guard let expiry = AWSTime.seconds(of: expiration) else {
            throw AWSKeyFailure("its answer has an expiration that is no time")
        }
        self.init(name: Secret(name), key: Secret(key), sessionToken: Secret(token), expiry: expiry)
    }
}
