// SPDX-License-Identifier: Apache-2.0

/// The pictures that operations make once for all frames of an animation: watermarks, text, masks. Used by
/// one run, and so by one thread.
final class OnceMade {
    /// Identifies a picture of an operation.
    struct Key: Equatable {
        let operation: Int
        let part: Int
    }

    private var keys: [Key] = []
    private var images = FrameStrip()

    /// Creates an empty store.
    init() {}

    /// Returns the picture of `key`, which `make` creates on the first call.
    func image(
        _ key: Key, _ make: () throws(ImagingError) -> VipsImage
    ) throws(ImagingError) -> VipsImage {
        if let index = keys.firstIndex(of: key) { return try images.frame(index) }
        let image = try make()
        keys.append(key)
        images.append(image)
        return image
    }
}
