// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The settings that the cases of a dialect were recorded with.
struct DialectProfile {
    let dialect: String
    let name: String
    let origin: DialectOrigin
    let folder: TemporaryDirectory

    /// The members `dialects` and `watermarks` of the configuration.
    func settings() throws -> String {
        let members = ["\"name\": \"\(dialect)\"", "\"compatibleErrors\": true"] + (try own())
        return """
            "watermarks": {"wm": "\(DialectOrigin.path(of: "wm.png"))"}, \
            "dialects": [{\(members.joined(separator: ", "))}]
            """
    }

    private func file(_ name: String, _ text: String) throws -> String {
        try folder.write(Array(text.utf8), to: name)
        return "\"\(folder.path)/\(name)\""
    }

    /// The dialect's own settings; the default ones where it is not named here.
    private func own() throws -> [String] {
        switch dialect {
        case "imgproxy": try imgproxy()
        case "thumbor": try thumbor()
        case "imaginary": try imaginary()
        case "weserv": ["\"lenient\": true"]
        case "imgix": try imgix()
        case "nextjs": base + ["\"remotePatterns\": [\"\(origin.filling("{SRC}/*"))\"]"]
        default: base
        }
    }

    /// The zone's address, where sources are paths on it.
    private var base: [String] { name == "zone" ? ["\"base\": \"\(origin.filling("{SRC}/"))\""] : [] }

    private func imgix() throws -> [String] {
        let keys = name == "signed" ? ["\"keys\": [\(try file("token", "dialects-imgix-token"))]"] : []
        return base + keys + ["\"lenient\": true"]
    }

    private func thumbor() throws -> [String] {
        let key = try file("key", "dialects-thumbor-key")
        var members = ["\"keys\": [\(key)]", "\"lenient\": true"]
        members.append("\"watermarks\": {\"\(origin.filling("{SRC}/wm.png"))\": \"wm\"}")
        if name != "strict" { members.append("\"allowsUnsafe\": true") }
        if name == "orient" { members.append("\"respectsOrientation\": true") }
        if name == "negotiate" { members.append("\"autoWebP\": true") }
        return members
    }

    private func imaginary() throws -> [String] {
        let members = ["\"watermarks\": {\"\(origin.filling("{SRC}/wm.png"))\": \"wm\"}"]
        guard name == "signed" else { return members }
        let key = try file("key", "dialects-imaginary-key-0123456789abcdef")
        return members + ["\"keys\": [\(key)]", "\"signsURLs\": true"]
    }

    private func imgproxy() throws -> [String] {
        let key = try file("key", "8d3fb5c0a417e29d6650f1c2b98e73a46d1209fe57c8b3a0946edf1128c7b05a")
        let salt = try file("salt", "31c9a86be0f4725dd8ab1763c50e92f74a6b8cd01f35e7924cb60fd83a1e7b69")
        var members = ["\"watermark\": \"wm\""]
        if name != "nokey" { members.append("\"keys\": [\(key)], \"salts\": [\(salt)]") }
        if name != "strict", name != "sig8" { members.append("\"trustedSignatures\": [\"unsafe\"]") }
        let presets =
            name == "defpreset"
            ? #"{"default": "rs:fill:200:100/q:70", "thumb": "rs:fill:120:90/g:no"}"#
            : #"{"thumb": "rs:fill:120:90/g:no", "blurry": "bl:4", "chain": "pr:thumb/bl:2", "towebp": "f:webp", "loop": "pr:loop/w:50"}"#
        members.append("\"presets\": \(presets)")
        switch name {
        case "sig8": members.append("\"signatureSize\": 8")
        case "onlypresets": members.append("\"onlyPresets\": true")
        case "baseurl": members.append("\"baseURL\": \"\(origin.filling("{SRC}/"))\"")
        case "negotiate": members.append("\"autoFormat\": true")
        case "secopts": members.append("\"securityOptions\": true")
        case "b64name": members.append("\"base64IncludesFilename\": true")
        default: break
        }
        return members
    }
}
