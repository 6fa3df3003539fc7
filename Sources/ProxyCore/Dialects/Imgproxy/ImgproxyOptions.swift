// SPDX-License-Identifier: Apache-2.0

/// The options of an imgproxy URL, the last of each kind.
struct ImgproxyOptions: Sendable, Hashable {
    /// What is done to the pixels; the commercial version chains several.
    struct Pipeline: Sendable, Hashable {
        var resizing = Resizing.fit
        var width = 0
        var height = 0
        var minWidth = 0
        var minHeight = 0
        var zoomX = 1.0
        var zoomY = 1.0
        var dpr = 1.0
        var mayEnlarge = false
        var extend = Extend()
        var extendRatio = Extend()
        var gravity = Gravity()
        var crop = Crop()
        var trim = Trim()
        var padding = Padding()
        var isTurnedByMetadata = true
        var rotation = 0
        var flipsHorizontally = false
        var flipsVertically = false
        /// RRGGBB.
        var background: String?
        /// 0–1.
        var backgroundAlpha = 1.0
        var blur = 0.0
        var sharpen = 0.0
        var pixelate = 0
        var watermark = Watermark()
        /// Operations of the commercial version, as text.
        var adjustments: [String: String] = [:]
    }

    enum Resizing: String, Sendable {
        case fit, fill, force, auto
        case fillDown = "fill-down"
    }

    /// A place in a picture.
    struct Gravity: Sendable, Hashable {
        var type = "ce"
        var x = 0.0
        var y = 0.0
    }

    struct Extend: Sendable, Hashable {
        var isOn = false
        var gravity = Gravity()
    }

    struct Crop: Sendable, Hashable {
        /// 0 is all, below 1 a share of the side, from 1 on pixels.
        var width = 0.0
        var height = 0.0
        /// Its own; else the global one counts.
        var gravity: Gravity?
    }

    struct Trim: Sendable, Hashable {
        /// Nil for no trim.
        var threshold: Double?
        /// RRGGBB; nil is the top left pixel's.
        var color: String?
        var isEqualHorizontally = false
        var isEqualVertically = false
    }

    struct Padding: Sendable, Hashable {
        var top = 0, right = 0, bottom = 0, left = 0
    }

    struct Watermark: Sendable, Hashable {
        /// 0 for none.
        var opacity = 0.0
        /// As of a gravity; `re` is tiled, and the offsets are gaps.
        var position = Gravity()
        var scale = 0.0
    }

    /// The pipelines before the last one.
    private(set) var earlier: [Pipeline] = []
    var pipeline = Pipeline()

    var format: String?
    var quality = 0
    var qualities: [String: Int] = [:]
    var maxBytes = 0
    var skipped: [String] = []
    var isRaw = false
    var expires: Int64 = 0
    var filename: String?
    var isAttachment = false
    var stripsMetadata = true
    var keepsCopyright = true
    var hasOneFrame = false
    /// The longest side of the result; 0 for any.
    var maxSide = 0
    var frame: Int?
    /// Options that change nothing here.
    var ignored: [String] = []
    /// The number of options that were read, those of presets included.
    var count = 0

    /// All pipelines in their order.
    var pipelines: [Pipeline] { earlier + [pipeline] }

    /// Begins the next pipeline.
    mutating func beginNext() {
        earlier.append(pipeline)
        pipeline = Pipeline()
    }
}
