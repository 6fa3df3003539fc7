// SPDX-License-Identifier: Apache-2.0

import CVips

extension VipsImage {
    /// Sets an integer of the metadata; the image must not be shared, as after `duplicate`.
    borrowing func set(_ name: String, to value: Int) {
        unsafe shim_set_int_field(raw, name, CInt(clamping: value))
    }

    /// Removes what tells of frames, so that the image counts as a still.
    borrowing func forgetFrames() {
        for name in Self.frameFields { unsafe shim_remove_field(raw, name) }
    }

    /// Says that the image holds frames of `height` below each other.
    borrowing func setFrames(_ count: Int, height: Int, timing: AnimationTiming) {
        set("n-pages", to: count)
        set("page-height", to: height)
        set("loop", to: timing.loop)
        guard !timing.delays.isEmpty else { return }
        let delays = timing.delays.map { CInt(clamping: $0) }
        unsafe shim_set_ints_field(raw, "delay", delays, CInt(delays.count))
    }

    /// Removes descriptive metadata and profiles except who owns the picture.
    ///
    /// - Returns: whether anything is left that needs writing.
    borrowing func keepOnlyCopyright() -> Bool { keep(only: Self.copyrightFields) }

    /// Removes all descriptive metadata and profiles; not every saver does when it is told to.
    ///
    /// - Returns: false, since nothing is left.
    borrowing func keepNothing() -> Bool { keep(only: []) }

    private borrowing func keep(only kept: [String]) -> Bool {
        var keeps = false
        for name in fieldNames {
            if kept.contains(name) {
                keeps = true
            } else if Self.descriptivePrefixes.contains(where: name.hasPrefix) {
                unsafe shim_remove_field(raw, name)
            }
        }
        return keeps
    }

    private static let frameFields = ["n-pages", "page-height", "delay", "loop", "gif-delay", "gif-loop"]
    private static let copyrightFields = ["exif-ifd0-Copyright", "exif-ifd0-Artist"]
    private static let descriptivePrefixes = [
        "exif-", "xmp-", "iptc-", "icc-", "photoshop-", "jpeg-thumbnail", "png-comment", "gif-comment",
        "orientation", "heif-", "webp-comment",
    ]

    private var fieldNames: [String] {
        guard let names = unsafe shim_field_names(raw) else { return [] }
        defer { unsafe shim_free_names(names) }
        var list: [String] = []
        var index = 0
        while let name = unsafe names[index] {
            list.append(unsafe String(cString: name))
            index += 1
        }
        return list
    }
}
