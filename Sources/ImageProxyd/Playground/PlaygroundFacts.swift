// SPDX-License-Identifier: Apache-2.0

import Dialects
internal import HTTPServer
import Imaging
import Primitives

/// What the playground's page needs to know of the settings, as JSON.
enum PlaygroundFacts {
    /// - Parameter isAdmin: whether it is for the admin listener. What signed URLs alone may name is for that one.
    static func json(_ configuration: ProxyConfiguration, isAdmin: Bool) -> JSONValue {
        let security = configuration.security
        let showsNames = isAdmin || !security.requiresSignatures
        return [
            "version": .string(Version.current),
            "listener": .string(isAdmin ? "admin" : "public"),
            "needsSignature": .bool(security.requiresSignatures),
            "canSign": .bool(isAdmin && !security.keys.isEmpty),
            "takesUploads": .bool(isAdmin || security.allowUploads),
            "maxUploadBytes": .integer(configuration.http.server.limits.contentBytes),
            "onlyPresets": .bool(security.onlyPresets),
            "clientHints": .bool(configuration.http.clientHints),
            "presets": .strings(showsNames ? configuration.presets.keys.sorted() : []),
            "watermarks": .strings(showsNames ? configuration.watermarks.keys.sorted() : []),
            "formats": .strings(
                ImageFormat.allCases.filter { $0.isWritable(decoding: configuration.formats.decode) }.map(
                    \.rawValue)),
            "dialects": .strings(DialectRegistry.names),
            "samples": .strings(configuration.playgroundSamples),
        ]
    }
}
