// SPDX-License-Identifier: Apache-2.0

import CVips

/// libvips itself: its start, its allowed coders, its error buffer.
package enum VipsLibrary {
    /// Whether libvips has started; the first use starts it with one thread per job, no cache and no
    /// untrusted coder.
    static let isStarted: Bool = shim_start(threadsPerJob, 0) == 0

    /// Jobs run in parallel processes, so threads would not make one job faster.
    private static let threadsPerJob: CInt = 1
    /// The maximum length of a text from libvips, in bytes; it is for the log.
    private static let errorTextLimit = 512

    /// Starts libvips with only the needed parts, in a process without other threads; returns whether it
    /// succeeded.
    package static func startAlone() -> Bool { shim_start(threadsPerJob, 1) == 0 && isStarted }

    /// Starts libvips unless it has started.
    package static func start() throws(ImagingError) {
        guard isStarted else { throw .unsupportedFormat("libvips does not start") }
    }

    /// Allows a format's coders that libvips considers untrusted; called only for formats that a plan names.
    package static func unblock(_ format: ImageFormat) {
        for name in format.coder.untrustedCoders { unsafe shim_unblock(name) }
    }

    /// Returns libvips' last error and clears its buffer.
    ///
    /// All threads share the buffer: with several jobs in one process the text may belong to another one.
    package static func failure() -> ImagingError {
        let text = unsafe String(cString: vips_error_buffer())
        vips_error_clear()
        let short = String(decoding: text.utf8.prefix(errorTextLimit), as: UTF8.self)
        // libheif reports sizes beyond its own limits as a lack of memory, too.
        let words = text.lowercased()
        let isShort = shortages.contains { words.contains($0) } && !words.contains("security limit")
        return isShort ? .outOfMemory(short) : .badImageData(short)
    }

    /// What libvips and the libraries of its formats say of a lack of memory. Single words could be a picture's own: messages quote
    /// the names of a drawing's elements.
    private static let shortages = [
        "out of memory", "insufficient memory", "not enough memory", "memory allocation", "memory error",
        "required memory", "unable to allocate", "cannot allocate", "failed to allocate", "no memory during",
    ]

    /// Clears the error buffer.
    package static func clearErrors() { vips_error_clear() }

    /// Whether there was an error since the last `clearErrors`.
    static var hasErrors: Bool { unsafe vips_error_buffer()[0] != 0 }

    /// A warning of libjpeg or libtiff after which part of the picture is invented: of libjpeg the first
    /// warning of each reading since the last `clearErrors`; nil for a harmless one, such as bytes
    /// between two markers, or none.
    ///
    /// Call it in a process that runs one job at a time, because all threads share one buffer.
    static var damage: String? {
        let text = unsafe String(cString: vips_error_buffer())
        return damages.first { text.contains($0) }
    }

    /// Parts of libjpeg's messages (jerror.h), and of libtiff's about fax codes (tif_fax3.c).
    private static let damages = [
        "premature end of data segment", "bad Huffman code", "bad arithmetic code", "instead of RST",
        "Bad code word", "Uncompressed data (not supported)",
    ]
}
