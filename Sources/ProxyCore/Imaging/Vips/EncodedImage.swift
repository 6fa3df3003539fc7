// SPDX-License-Identifier: Apache-2.0

import CVips

/// An encoded picture in memory of libvips.
@safe struct EncodedImage: ~Copyable {
    private let start: UnsafeMutableRawPointer
    /// The number of bytes.
    let count: Int

    /// Takes over memory that a saver has returned.
    init(adopting start: UnsafeMutableRawPointer, count: Int) {
        unsafe self.start = unsafe start
        self.count = count
    }

    deinit {
        unsafe g_free(start)
    }

    /// Lends the bytes.
    borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: start, count: count))
    }
}
