// SPDX-License-Identifier: Apache-2.0

import CVips

extension VipsSource {
    /// What libjpeg has only warned of although part of the picture is made up; nil where there is nothing of the kind.
    ///
    /// libvips 8.14 passes on the first warning of each reading since the last `forgetComplaints`. A harmless one may hide
    /// others: then the file is read again for all of them. To be asked in a process that does one job at a time, since all
    /// threads complain to one buffer. O(1) where there was no warning, else O(bytes).
    var damage: String? {
        VipsLibrary.damage ?? (VipsLibrary.hasComplaints ? damageBehindWarnings : nil)
    }

    /// What all warnings of libjpeg come to; nil for other formats.
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

    /// libjpeg's messages are shorter (JMSG_LENGTH_MAX).
    private static let damageTextLimit = 256
}
