// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// As `withUnsafeBytes`, with the type of the error that `body` throws.
    @unsafe
    package func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe withUnsafeBufferPointer { (bytes) throws(Failure) in
            try unsafe body(UnsafeRawBufferPointer(bytes))
        }
    }
}
