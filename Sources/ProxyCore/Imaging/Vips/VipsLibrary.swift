// SPDX-License-Identifier: Apache-2.0

import CVips

/// libvips as a whole: its start, its allowed coders, its error buffer.
enum VipsLibrary {
    /// Whether libvips has started; the first use starts it: one thread a job, no cache, no untrusted coder.
    static let isStarted: Bool = shim_start(threadsPerJob, 0) == 0

    /// Jobs run side by side in processes, so one job gains nothing from threads of its own.
    private static let threadsPerJob: CInt = 1
    /// Longest text taken over from libvips, in bytes; it is for the log.
    private static let errorTextLimit = 512

    /// Coders that libvips counts as untrusted, and that a configuration may name.
    private static let untrusted: [ImageFormat: [String]] = [
        .svg: ["VipsForeignLoadSvg"], .jxl: ["VipsForeignLoadJxl", "VipsForeignSaveJxl"],
    ]

    /// Starts libvips with nothing but what we use, in a process that has no other thread; whether that worked.
    static func startAlone() -> Bool { shim_start(threadsPerJob, 1) == 0 && isStarted }

    /// Starts libvips if that has not been done.
    static func start() throws(ImagingError) {
        guard isStarted else { throw .unsupportedFormat("libvips does not start") }
    }

    /// Allows a format's coders that libvips counts as untrusted; only called for formats that a plan names.
    static func unblock(_ format: ImageFormat) {
        for name in untrusted[format] ?? [] { unsafe shim_unblock(name) }
    }

    /// Takes what libvips last complained about out of its buffer.
    ///
    /// The buffer is shared by all threads: with several jobs in one process the text may be another's.
    static func failure() -> ImagingError {
        let text = unsafe String(cString: vips_error_buffer())
        vips_error_clear()
        let short = String(decoding: text.utf8.prefix(errorTextLimit), as: UTF8.self)
        // libheif counts sizes that it would not even try among wants of memory.
        let isShort = text.lowercased().contains("memory") && !text.contains("ecurity limit")
        return isShort ? .outOfMemory(short) : .badImageData(short)
    }

    /// Forgets what has been complained about so far.
    static func forgetComplaints() { vips_error_clear() }

    /// Whether anything has been complained about since the last `forgetComplaints`.
    static var hasComplaints: Bool { unsafe vips_error_buffer()[0] != 0 }

    /// What libjpeg or libtiff has only warned of although part of the picture is made up: of libjpeg its first warning of
    /// each reading since the last `forgetComplaints`; nil where it was harmless, such as bytes between two markers, or none.
    ///
    /// To be asked in a process that does one job at a time, since all threads complain to one buffer.
    static var damage: String? {
        let text = unsafe String(cString: vips_error_buffer())
        return damages.first { text.contains($0) }
    }

    /// Parts of libjpeg's messages (jerror.h), and of libtiff's of fax codes (tif_fax3.c).
    private static let damages = [
        "premature end of data segment", "bad Huffman code", "bad arithmetic code", "instead of RST",
        "Bad code word", "Uncompressed data (not supported)",
    ]
}
