// SPDX-License-Identifier: Apache-2.0

import CVips

extension VipsImage {
    /// Sets an integer of the metadata; the image must not be shared, as after `duplicate`.
    package borrowing func set(_ name: String, to value: Int) {
        unsafe shim_set_int_field(raw, name, CInt(clamping: value))
    }

    /// Removes the metadata of frames, so that the image counts as a still.
    package borrowing func forgetFrames() {
        for name in Self.frameFields { unsafe shim_remove_field(raw, name) }
    }

    /// Removes the embedded profile, for pixels in sRGB.
    borrowing func forgetProfile() { unsafe shim_remove_field(raw, "icc-profile-data") }

    /// Sets the metadata of frames of `height`, one below the other.
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

    /// Sets a binary field of the metadata; the image must not be shared, as after `duplicate`.
    borrowing func set(_ name: String, to bytes: [UInt8]) {
        unsafe shim_set_blob_field(raw, name, bytes, bytes.count)
    }

    /// The ownership of the picture, from any kind of metadata.
    var ownership: Ownership { ownership(from: Set(MetadataKind.allCases)) }

    /// The part of the ownership that no kind of metadata which is kept contains.
    func ownership(lostBeside kept: Set<MetadataKind>) -> Ownership {
        ownership.without(ownership(from: kept))
    }

    private func ownership(from kinds: Set<MetadataKind>) -> Ownership {
        func field(_ kind: MetadataKind, _ name: String) -> [UInt8]? {
            kinds.contains(kind) ? blob(name) : nil
        }
        return Ownership(
            exif: field(.exif, "exif-data"), iptc: field(.iptc, "iptc-data"), xmp: field(.xmp, "xmp-data"),
            comments: kinds.contains(.comments) ? comments : [:])
    }

    /// The same picture with a block of EXIF, unless there is none, or libvips has read one.
    consuming func adding(exif: [UInt8]?) throws(ImagingError) -> VipsImage {
        guard let exif, blob("exif-data") == nil else { return self }
        let own = try duplicate()
        own.set("exif-data", to: exif)
        return own
    }

    /// The same picture with the XMP that libvips 8.14 does not take for it in a HEIF file, because of the wrapper before it.
    consuming func withWrappedXMP() throws(ImagingError) -> VipsImage {
        guard let packet = wrappedXMP else { return self }
        let own = try duplicate()
        own.set("xmp-data", to: packet)
        return own
    }

    private var wrappedXMP: [UInt8]? {
        guard blob("xmp-data") == nil else { return nil }
        for name in fieldNames where name.hasPrefix("heif-mime") {
            if let packet = blob(name), packet.starts(with: "<?xpacket".utf8) { return packet }
        }
        return nil
    }

    private var comments: [String: String] {
        var comments: [String: String] = [:]
        for name in fieldNames where name.hasPrefix(Self.pngComment) {
            comments[Self.keyword(of: name)] = text(name)
        }
        return comments
    }

    /// The keyword in a field's name: `png-comment-NUMBER-KEYWORD`.
    private static func keyword(of name: String) -> String {
        String(name.dropFirst(pngComment.count).drop { $0 != "-" }.dropFirst())
    }

    /// What libvips has in place of a text that is not in UTF-8.
    private static let unreadable = "<invalid utf-8 string>"

    /// The same picture with comments in place of those that libvips could not read; one without is removed.
    consuming func withComments(_ texts: () -> [String: String]) throws(ImagingError) -> VipsImage {
        let unread = unreadableFields(Self.pngComment)
        guard !unread.isEmpty else { return self }
        let own = try duplicate()
        let known = texts()
        for name in unread {
            if let text = known[Self.keyword(of: name)] { own.set(name, to: text) } else { own.remove(name) }
        }
        return own
    }

    /// Removes the comments that are not in ASCII, and returns them; the image must not be shared, as after `duplicate`.
    borrowing func takeInternationalComments() -> [(keyword: String, text: String)] {
        var taken: [(keyword: String, text: String)] = []
        for name in fieldNames where name.hasPrefix(Self.pngComment) {
            guard let text = text(name), text.utf8.contains(where: { $0 >= 0x80 }) else { continue }
            taken.append((Self.keyword(of: name), text))
            remove(name)
        }
        return taken
    }

    /// Sets the ownership where libvips could not read it in EXIF, and removes other texts of EXIF that it could not read; the image
    /// must not be shared, as after `duplicate`.
    borrowing func replaceUnreadableExif(by ownership: Ownership) {
        let unread = unreadableFields("exif-ifd")
        for name in unread { remove(name) }
        var missing = Ownership()
        if unread.contains("exif-ifd0-Artist") { missing.artist = ownership.artist }
        if unread.contains("exif-ifd0-Copyright") { missing.copyright = ownership.copyright }
        setOwnership(missing)
    }

    /// The fields of this prefix whose text libvips could not read, perhaps with its description of it behind.
    private borrowing func unreadableFields(_ prefix: String) -> [String] {
        var names: [String] = []
        for name in fieldNames where name.hasPrefix(prefix) {
            if text(name)?.hasPrefix(Self.unreadable) == true { names.append(name) }
        }
        return names
    }

    /// Removes a field; the image must not be shared, as after `duplicate`.
    borrowing func remove(_ name: String) { unsafe shim_remove_field(raw, name) }

    /// The EXIF of an upright picture, with the ownership's missing texts added; nil if it would be empty.
    func exif(adding ownership: Ownership) -> ExifBlock? {
        guard var block = blob("exif-data").flatMap({ ExifBlock($0) }) else {
            guard !ownership.isEmpty else { return nil }
            return ExifBlock(ownership)
        }
        block.resetOrientation()
        return block.adding(ownership)
    }

    /// Sets an existing XMP orientation to upright; the image must not be shared, as after `duplicate`.
    borrowing func resetOrientationOfXMP() {
        guard let packet = blob("xmp-data").flatMap(XMPOrientation.upright) else { return }
        set("xmp-data", to: packet)
    }

    /// Removes the thumbnail of the EXIF, which shows the source; the image must not be shared, as after `duplicate`.
    borrowing func removeThumbnail() {
        for name in fieldNames where name == "jpeg-thumbnail-data" || name.hasPrefix("exif-ifd1-") {
            unsafe shim_remove_field(raw, name)
        }
        guard let bytes = blob("exif-data"), var block = ExifBlock(bytes) else { return }
        block.removeThumbnail()
        block.resetOrientation()
        set(
            "exif-data",
            to: bytes.starts(with: ExifBlock.prefix) ? ExifBlock.prefix + block.bytes : block.bytes)
    }

    /// Removes all descriptive metadata and profiles, and sets the ownership.
    borrowing func keepOnly(_ ownership: Ownership) {
        removeDescriptions()
        setOwnership(ownership)
    }

    /// Sets the ownership in EXIF; the image must not be shared, as after `duplicate`.
    borrowing func setOwnership(_ ownership: Ownership) {
        for (name, text) in [("Copyright", ownership.copyright), ("Artist", ownership.artist)] {
            // libvips removes text in the last parentheses, which it considers its own comment.
            if let text { set("exif-ifd0-\(name)", to: "\(text) (ASCII)") }
        }
    }

    /// Removes all descriptive metadata and profiles; some savers do not do so themselves.
    borrowing func removeDescriptions() {
        for name in fieldNames where Self.descriptivePrefixes.contains(where: name.hasPrefix) {
            unsafe shim_remove_field(raw, name)
        }
    }

    /// Returns the bytes of a field of the metadata; nil if it is absent or too long.
    func blob(_ name: String) -> [UInt8]? {
        var length = 0
        guard let bytes = unsafe shim_blob_field(raw, name, &length), length <= Self.blobLimit else {
            return nil
        }
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// Copies the descriptive metadata of another picture of the same file; the image must not be shared, as
    /// after `duplicate`.
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

    /// The maximum number of bytes of one field.
    static let blobLimit = 4 << 20
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
