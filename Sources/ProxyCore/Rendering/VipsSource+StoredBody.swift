// SPDX-License-Identifier: Apache-2.0

extension VipsSource {
    /// Copies a stored body; nil if it can't be read.
    package static func copy(of body: StoredBody) -> VipsSource? {
        switch body {
        case .bytes(let bytes):
            copy(of: bytes)
        case .file(let file, let offset, let length):
            copy(of: file.raw, from: offset, length: Int(length))
        }
    }

    /// Copies a range of a file; nil if it can't be read.
    static func copy(of descriptor: CInt, from offset: Int64, length: Int) -> VipsSource? {
        unsafe filled(count: length) { memory in
            unsafe DescriptorBytes.fill(memory, from: descriptor, at: offset)
        }
    }
}

extension StoredBody {
    /// The format by its first bytes; nil for no picture, and if they can't be read.
    var imageFormat: ImageFormat? {
        switch self {
        case .bytes(let bytes):
            return ImageFormat(sniffing: Array(bytes.prefix(ImageFormat.sniffLength)))
        case .file(let file, let offset, let length):
            var prefix = [UInt8](repeating: 0, count: min(Int(length), ImageFormat.sniffLength))
            let isRead = unsafe prefix.withUnsafeMutableBytes { bytes in
                unsafe DescriptorBytes.fill(bytes, from: file.raw, at: offset)
            }
            return isRead ? ImageFormat(sniffing: prefix) : nil
        }
    }
}
