// SPDX-License-Identifier: Apache-2.0

/// The kinds of metadata that may contain an ownership.
enum MetadataKind: CaseIterable {
    case exif, iptc, xmp, comments
}

/// Metadata that libvips does not write, as a change of its output.
struct MetadataAddition {
    /// Whether libvips is to write none itself.
    var replacesAll = false
    /// Adds it to a written file.
    let add: (consuming EncodedImage) -> EncodedImage

    /// The number of bytes from which a format finds the place for its metadata.
    private static let headerLength = 13

    /// Creates a change of any kind.
    init(_ add: @escaping (consuming EncodedImage) -> EncodedImage) {
        self.add = add
    }

    /// Creates an insertion of bytes, unless there is no place for them.
    ///
    /// - Parameter insertion: gets the file's first bytes.
    init(replacesAll: Bool = false, _ insertion: @escaping (_ header: [UInt8]) -> Insertion?) {
        self.replacesAll = replacesAll
        add = { encoded in
            let header = unsafe encoded.withBytes { unsafe Array($0.prefix(Self.headerLength)) }
            guard let insertion = insertion(header) else { return encoded }
            return encoded.inserting(insertion)
        }
    }
}

/// Bytes to insert into a file, or to put in place of as many.
struct Insertion {
    /// The bytes.
    let bytes: [UInt8]
    /// Their position.
    let offset: Int
}
