// SPDX-License-Identifier: Apache-2.0

/// What operations make once for all frames of an animation: marks, letters, masks. Of one run, and so of one thread.
final class OnceMade {
    /// Says which picture of which operation.
    struct Key: Equatable {
        let operation: Int
        let part: Int
    }

    private var keys: [Key] = []
    private var images = FrameStrip()

    /// Starts with nothing.
    init() {}

    /// Returns the picture of `key`, which `make` makes when it is first asked for.
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
