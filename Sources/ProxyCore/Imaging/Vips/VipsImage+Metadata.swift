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

    /// Removes the embedded profile, for pixels that are sRGB's.
    borrowing func forgetProfile() { unsafe shim_remove_field(raw, "icc-profile-data") }

    /// Says that the image holds frames of `height` below each other.
    borrowing func setFrames(_ count: Int, height: Int, timing: AnimationTiming) {
        set("n-pages", to: count)
        set("page-height", to: height)
        set("loop", to: timing.loop)
        guard !timing.delays.isEmpty else { return }
        let delays = timing.delays.map { CInt(clamping: $0) }
        unsafe shim_set_ints_field(raw, "delay", delays, CInt(delays.count))
    }

    /// Sets a text of the metadata; the image must not be shared, as after `duplicate`.
    borrowing func set(_ name: String, to text: String) {
        unsafe shim_set_string_field(raw, name, text)
    }

    /// Sets a part of the metadata that is no text; the image must not be shared, as after `duplicate`.
    borrowing func set(_ name: String, to bytes: [UInt8]) {
        unsafe shim_set_blob_field(raw, name, bytes, bytes.count)
    }

    /// Who owns the picture, from whatever metadata says so.
    var ownership: Ownership {
        Ownership(
            exif: blob("exif-data"), iptc: blob("iptc-data"), xmp: blob("xmp-data"), comments: comments)
    }

    /// What of that libvips writes nowhere in a format, though it is to keep everything.
    func ownership(lostIn format: ImageFormat) -> Ownership {
        let kept = Ownership(
            exif: blob("exif-data"), iptc: format == .jpeg ? blob("iptc-data") : nil,
            xmp: format == .jxl ? nil : blob("xmp-data"), comments: format == .png ? comments : [:])
        return ownership.without(kept)
    }

    private var comments: [String: String] {
        var comments: [String: String] = [:]
        for name in fieldNames where name.hasPrefix(Self.pngComment) {
            // `png-comment-NUMBER-KEYWORD`
            let keyword = name.dropFirst(Self.pngComment.count).drop { $0 != "-" }.dropFirst()
            comments[String(keyword)] = text(name)
        }
        return comments
    }

    /// The EXIF of an upright picture, with owners added that it does not name; nil when there is nothing in it.
    func exif(adding ownership: Ownership) -> ExifBlock? {
        guard var block = blob("exif-data").flatMap({ ExifBlock($0) }) else {
            guard !ownership.isEmpty else { return nil }
            return ExifBlock(artist: ownership.artist, copyright: ownership.copyright)
        }
        block.resetOrientation()
        return block.adding(ownership)
    }

    /// Says in XMP that the picture is upright, where that says anything else; the image must not be shared, as after `duplicate`.
    borrowing func resetOrientationOfXMP() {
        guard let packet = blob("xmp-data").flatMap(XMPOrientation.upright) else { return }
        set("xmp-data", to: packet)
    }

    /// Removes all descriptive metadata and profiles, and says who owns the picture.
    borrowing func keepOnly(_ ownership: Ownership) {
        removeDescriptions()
        tell(of: ownership)
    }

    /// Says in EXIF who owns the picture; the image must not be shared, as after `duplicate`.
    borrowing func tell(of ownership: Ownership) {
        for (name, text) in [("Copyright", ownership.copyright), ("Artist", ownership.artist)] {
            // libvips cuts off what stands in the last brackets: it takes it for its own remark.
            if let text { set("exif-ifd0-\(name)", to: "\(text) (ASCII)") }
        }
    }

    /// Removes all descriptive metadata and profiles; not every saver does when it is told to.
    borrowing func removeDescriptions() {
        for name in fieldNames where Self.descriptivePrefixes.contains(where: name.hasPrefix) {
            unsafe shim_remove_field(raw, name)
        }
    }

    /// Returns the bytes of a part of the metadata; nil when there is none, or too much.
    func blob(_ name: String) -> [UInt8]? {
        var length = 0
        guard let bytes = unsafe shim_blob_field(raw, name, &length), length <= Self.blobLimit else {
            return nil
        }
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// Takes over what another picture of the same file says of itself; not to be shared, as after `duplicate`.
    borrowing func takeDescriptions(of other: borrowing VipsImage) {
        for name in other.fieldNames where name.hasPrefix(Self.pngComment) {
            if let text = other.text(name) { set(name, to: text) }
        }
        for name in ["exif-data", "xmp-data"] {
            if let bytes = other.blob(name) { set(name, to: bytes) }
        }
    }

    private func text(_ name: String) -> String? {
        unsafe shim_string_field(raw, name).map { unsafe String(cString: $0) }
    }

    /// Most bytes of one part that are looked at.
    private static let blobLimit = 4 << 20
    private static let pngComment = "png-comment-"
    private static let frameFields = ["n-pages", "page-height", "delay", "loop", "gif-delay", "gif-loop"]
    private static let descriptivePrefixes = [
        "exif-", "xmp-", "iptc-", "icc-", "photoshop-", "jpeg-thumbnail", "png-comment", "gif-comment",
        "orientation", "heif-", "webp-comment", "image-description",
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
