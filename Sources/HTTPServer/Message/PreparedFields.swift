// SPDX-License-Identifier: Apache-2.0

/// Field lines encoded once and copied into many answers.
public final class PreparedFields: Sendable {
    /// `Name: value\r\n` for each line.
    let bytes: [UInt8]
    /// Whether a `Date` is among them.
    let isDated: Bool

    /// Encodes `fields`.
    public init(_ fields: HTTPFields) {
        var bytes: [UInt8] = []
        for line in fields.lines {
            bytes += line.name.prefix
            bytes += line.value.bytes
            bytes += "\r\n".utf8
        }
        self.bytes = bytes
        isDated = fields.isDated
    }
}
