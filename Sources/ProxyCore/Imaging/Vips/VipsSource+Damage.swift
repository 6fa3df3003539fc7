// SPDX-License-Identifier: Apache-2.0

import CVips

extension VipsSource {
    /// A warning of libjpeg after which part of the picture is invented; nil if there was none.
    ///
    /// libvips 8.14 reports the first warning of each reading since the last `clearErrors`. A harmless
    /// one may hide others; then the file is read again for all of them. Call it in a process that runs one
    /// job at a time, because all threads share one buffer. O(1) without a warning, otherwise O(bytes).
    package var damage: String? {
        VipsLibrary.damage ?? (VipsLibrary.hasErrors ? damageBehindWarnings : nil)
    }

    /// The first serious warning of all that libjpeg gives; nil for other formats.
    var damageBehindWarnings: String? {
        guard ImageFormat(sniffing: prefix) == .jpeg else { return nil }
        var text = [CChar](repeating: 0, count: Self.damageTextLimit)
        var isDamaged = false
        unsafe withBytes { (file) throws(Never) in
            guard let start = file.baseAddress else { return }
            isDamaged = unsafe shim_jpeg_damage(start, file.count, &text, text.count) != 0
        }
        guard isDamaged else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The size of the buffer; libjpeg's messages (JMSG_LENGTH_MAX) are shorter.
    private static let damageTextLimit = 256
}
