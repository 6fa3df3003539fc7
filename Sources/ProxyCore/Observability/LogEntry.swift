// SPDX-License-Identifier: Apache-2.0

import Primitives

/// An entry of a log: severity, message, and values by name.
package struct LogEntry: Sendable, Hashable {
    /// When it happened, in milliseconds since 1970.
    package var milliseconds: Int64
    /// How severe it is.
    package var level: LogConfiguration.Level
    /// The message, one sentence.
    package var message: String
    /// Values by name (`snake_case`), in order.
    package var fields: [Field]

    /// A value and its name.
    package struct Field: Sendable, Hashable {
        /// The name, in snake case.
        package let name: String
        package let value: Value

        /// A value of the log.
        package enum Value: Sendable, Hashable, CustomStringConvertible {
            case number(Int)
            case text(String)

            /// The value without quotes.
            package var description: String {
                switch self {
                case .number(let number): "\(number)"
                case .text(let text): text
                }
            }
        }

        package init(_ name: String, _ value: Int) {
            self.name = name
            self.value = .number(value)
        }

        /// A text and its name.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = .text(value)
        }
    }

    package init(
        milliseconds: Int64, level: LogConfiguration.Level, message: String, fields: [Field] = []
    ) {
        self.milliseconds = milliseconds
        self.level = level
        self.message = message
        self.fields = fields
    }
}

extension LogEntry {
    /// The maximum number of bytes of one entry, so that it fits a datagram to the journal; a longer message
    /// is cut.
    package static let maxBytes = 32_768

    /// Formats the entry: a line with its end for `text` and `json`, a datagram for `journald`; `auto` counts
    /// as `text`.
    package func bytes(as format: LogConfiguration.Format) -> [UInt8] {
        switch format {
        case .auto, .text: Array(textLine.utf8)
        case .json: Array(jsonLine.utf8)
        case .journald: journalDatagram
        }
    }

    private var cutMessage: String {
        guard message.utf8.count > Self.maxBytes / 2 else { return message }
        return String(decoding: message.utf8.prefix(Self.maxBytes / 2), as: UTF8.self) + "…"
    }

    // MARK: - Text

    private var textLine: String {
        var line = "\(timestamp(milliseconds)) \(level.rawValue) \(unbroken(cutMessage))"
        for field in fields {
            switch field.value {
            case .number(let number): line += " \(field.name)=\(number)"
            case .text(let text): line += " \(field.name)=\(isPlain(text) ? text : text.quotedJSON)"
            }
        }
        return line + "\n"
    }

    // MARK: - JSON

    private var jsonLine: String {
        var line = "{\"time\":\"\(timestamp(milliseconds))\",\"level\":\"\(level.rawValue)\""
        line += ",\"message\":\(cutMessage.quotedJSON)"
        for field in fields {
            switch field.value {
            case .number(let number): line += ",\(field.name.quotedJSON):\(number)"
            case .text(let text): line += ",\(field.name.quotedJSON):\(text.quotedJSON)"
            }
        }
        return line + "}\n"
    }

    // MARK: - The journal's native protocol

    private var journalDatagram: [UInt8] {
        var datagram: [UInt8] = []
        append("MESSAGE", cutMessage, to: &datagram)
        append("PRIORITY", "\(level.priority)", to: &datagram)
        append("SYSLOG_IDENTIFIER", "imageproxyd", to: &datagram)
        for field in fields { append(journalName(field.name), field.value.description, to: &datagram) }
        return datagram
    }

    /// A value with line breaks follows its length in eight bytes, lowest first; others follow `=`.
    private func append(_ name: String, _ value: String, to datagram: inout [UInt8]) {
        datagram += name.utf8
        if value.utf8.contains(UInt8(ascii: "\n")) {
            datagram.append(UInt8(ascii: "\n"))
            let count = UInt64(value.utf8.count)
            datagram += (0..<8).map { UInt8(truncatingIfNeeded: count >> UInt64($0 * 8)) }
        } else {
            datagram.append(UInt8(ascii: "="))
        }
        datagram += value.utf8
        datagram.append(UInt8(ascii: "\n"))
    }

    /// Names of fields are capitals, digits and underscores, at most 64 (systemd.journal-fields(7)).
    private func journalName(_ name: String) -> String {
        let allowed = name.uppercased().utf8.map { byte in
            (0x41...0x5A).contains(byte) || byte.isASCIIDigit ? byte : UInt8(ascii: "_")
        }
        return String(decoding: Array("IMAGEPROXYD_".utf8) + allowed.prefix(52), as: UTF8.self)
    }
}

/// Hot path: whether a value that has this byte needs no quotes for it, in a line of text or in JSON.
func isPlain(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "=")
        && byte != UInt8(ascii: "\\")
}

private func isPlain(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isPlain) }

/// The message with line breaks and other control characters escaped: one entry stays one line.
private func unbroken(_ text: String) -> String {
    text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ? text : text.quotedJSON
}

extension LogEntry {
    /// The text with escapes in place of characters that end a line, control a terminal or change the
    /// direction of writing.
    static func visible(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case ..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
                result += scalar.escapedJSON
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
