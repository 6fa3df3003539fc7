// SPDX-License-Identifier: Apache-2.0

extension VipsSource {
    /// Copies a stored body; nil when it can't be read.
    static func copy(of body: StoredBody) -> VipsSource? {
        switch body {
        case .bytes(let bytes):
            copy(of: bytes)
        case .file(let file, let offset, let length):
            copy(of: file.raw, from: offset, length: Int(length))
        }
    }

    /// Copies a range of a file; nil when it can't be read.
    static func copy(of descriptor: CInt, from offset: Int64, length: Int) -> VipsSource? {
        unsafe filled(count: length) { memory in
            unsafe DescriptorBytes.fill(memory, from: descriptor, at: offset)
        }
    }
}
