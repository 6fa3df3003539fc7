// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging

@Suite("The plan of a resize")
struct ResizePlanTests {
    @Test(
        "Each mode fits the requested size in its way",
        arguments: [
            ("300x300", 1200, 800, 300, 200, 300, 200),
            ("300x", 1200, 800, 300, 200, 300, 200),
            ("x100", 1200, 800, 150, 100, 150, 100),
            ("150x", 4160, 3120, 150, 113, 150, 113), ("448x", 640, 45, 448, 32, 448, 32),
            ("50pcx", 1200, 801, 600, 401, 600, 401),
            ("3000x3000", 1200, 800, 1200, 800, 1200, 800),
            ("3000x3000:enlarge=1", 1200, 800, 3000, 2000, 3000, 2000),
            ("1x1", 1200, 8, 1, 1, 1, 1),
            ("300x300:cover", 1200, 800, 450, 300, 300, 300),
            ("300x:cover", 1200, 800, 300, 200, 300, 200),
            ("1000x500:cover", 600, 600, 600, 600, 600, 300),
            ("1000x500:cover:enlarge=1", 600, 600, 1000, 1000, 1000, 500),
            ("100x333:cover", 1201, 799, 501, 333, 100, 333),
            ("300x300:fill", 1200, 800, 300, 300, 300, 300),
            ("2400x800:fill", 1200, 800, 1200, 400, 1200, 400),
            ("2400x800:fill:enlarge=1", 1200, 800, 2400, 800, 2400, 800),
            ("10.5x10.4:fill", 100, 100, 11, 10, 11, 10),
            ("300x300:crop", 1200, 800, 450, 300, 300, 300), ("300x900:crop", 1200, 800, 1200, 800, 300, 800),
            ("900x900:crop", 600, 600, 600, 600, 600, 600),
            ("900x900:crop:enlarge=1", 600, 600, 900, 900, 900, 900),
            ("300x200:auto", 427, 640, 133, 200, 133, 200), ("200x300:auto", 427, 640, 200, 300, 200, 300),
            ("200x200:auto", 640, 480, 267, 200, 200, 200), ("200x200:auto", 480, 640, 150, 200, 150, 200),
            ("300x300:outside", 1200, 800, 450, 300, 450, 300),
            ("900x300:outside", 600, 600, 600, 600, 600, 600),
            ("900x100:fill:bound=side", 600, 600, 600, 100, 600, 100),
            ("900x900:enlarge=partly", 600, 600, 600, 600, 600, 600),
            ("900x:cover:enlarge=partly", 600, 600, 600, 600, 600, 600),
            ("300x900:fill:enlarge=partly", 600, 600, 300, 900, 300, 900),
            ("200x100:cover:swap=1", 400, 800, 100, 200, 100, 200),
            ("1x100pc:outside:enlarge=1:swap=1", 640, 427, 427, 285, 427, 285),
            ("150x:fill:enlarge=1:even=1", 320, 240, 150, 112, 150, 112),
            ("250x:fill:even=1", 400, 300, 250, 188, 250, 188),
            ("900x:fill:enlarge=1:bound=source:even=1", 640, 427, 640, 427, 640, 427),
            ("800x300:cover:enlarge=1:bound=source", 640, 427, 640, 427, 640, 300),
            ("77x:even=1", 640, 427, 76, 51, 76, 51), ("900x:even=1", 640, 427, 640, 427, 640, 427),
            ("x427:outside:enlarge=1:even=1", 300, 200, 641, 427, 641, 427),
            ("123x427:outside:enlarge=1", 300, 200, 641, 427, 641, 427),
            ("minwidth=200", 100, 100, 200, 200, 200, 200), ("50x:minwidth=200", 100, 100, 200, 200, 50, 200),
            ("200x200:minheight=300", 640, 427, 450, 300, 200, 200),
            ("zoomx=0.5:zoomy=0.25", 640, 427, 320, 107, 320, 107),
            ("200x:zoomx=2:zoomy=2", 640, 427, 400, 267, 400, 267),
            ("600x:zoomx=2:zoomy=2", 640, 427, 640, 427, 640, 427),
            ("101x:density=1.5", 640, 427, 152, 101, 152, 101),
            ("zoomx=1.5:zoomy=1.5:enlarge=1", 640, 427, 960, 641, 960, 641),
            ("60x:zoomx=0.5:zoomy=0.5", 400, 300, 30, 23, 30, 23),
            ("200x:density=2", 100, 100, 100, 100, 100, 100),
            ("400x400:crop:density=2", 640, 427, 640, 427, 427, 427),
            ("1000x500:cover:density=1.5", 600, 600, 600, 600, 600, 300),
        ])
    func plans(
        text: String, width: Int, height: Int, scaledWidth: Int, scaledHeight: Int, cutWidth: Int,
        cutHeight: Int
    ) throws {
        let pipeline = try TransformPipeline(parsing: "resize:\(text)")
        let resize = try #require(pipeline.operations.first as? Resize)

        let plan = resize.plan(for: PixelSize(width, height))

        #expect(plan.scaled == PixelSize(scaledWidth, scaledHeight))
        #expect(plan.cut == PixelSize(cutWidth, cutHeight))
    }

    @Test(
        "The density that later lengths follow is as high as the picture has pixels for it",
        arguments: [
            ("200x:density=2", 640, 427, 2.0), ("200x:density=2", 100, 100, 1),
            ("200x:density=4", 640, 427, 3.2),
            ("200x:density=2:enlarge=1", 100, 100, 2), ("200x:density=0.5", 100, 100, 1),
            ("200x:density=0.5", 640, 427, 0.5), ("200x", 640, 427, 1),
        ])
    func density(text: String, width: Int, height: Int, density: Double) throws {
        let pipeline = try TransformPipeline(parsing: "resize:\(text)")
        let resize = try #require(pipeline.operations.first as? Resize)

        #expect(resize.plan(for: PixelSize(width, height)).density == density)
    }

    @Test(
        "A JPEG decoder shrinks at most to the target",
        arguments: [
            (4272, 2848, 800, 533, LoadShrink.divisor(4)), (4272, 2848, 534, 356, .divisor(8)),
            (4272, 2848, 535, 356, .divisor(4)), (4272, 2848, 2136, 1424, .divisor(2)),
            (4272, 2848, 2137, 1424, .none), (100, 100, 200, 200, .none),
            // What is left to resample is nothing, or 1.25 at least.
            (4272, 2848, 2135, 1423, .none), (4272, 2848, 1710, 1140, .none),
            (4272, 2848, 1708, 1138, .divisor(2)), (4272, 2848, 1067, 711, .divisor(2)),
            (4272, 2848, 533, 355, .divisor(4)),
            // For a small source it leaves twice as many pixels.
            (999, 1000, 500, 500, .none), (999, 1000, 249, 250, .divisor(2)),
            (1000, 1000, 500, 500, .divisor(2)),
        ])
    func shrinking(width: Int, height: Int, targetWidth: Int, targetHeight: Int, shrink: LoadShrink) {
        let header = ImageHeader(
            format: .jpeg, size: PixelSize(width, height), frames: 1, hasAlpha: false, orientation: 1)

        #expect(JPEG.shrink(header, needed: PixelSize(targetWidth, targetHeight)) == shrink)
    }

    @Test("Gravity places a rectangle at sides, corners and around a focal point, never outside")
    func gravity() {
        let wanted = PixelSize(20, 10)
        let size = PixelSize(100, 50)

        #expect(
            Gravity.compass(0.5, 0.5).rectangle(of: wanted, in: size)
                == PixelRectangle(left: 40, top: 20, size: wanted))
        #expect(
            Gravity.compass(1, 1).rectangle(of: wanted, in: size)
                == PixelRectangle(left: 80, top: 40, size: wanted))
        #expect(
            Gravity.focal(0.25, 0.5).rectangle(of: wanted, in: size)
                == PixelRectangle(left: 15, top: 20, size: wanted))
        #expect(
            Gravity.focal(0, 1).rectangle(of: wanted, in: size)
                == PixelRectangle(left: 0, top: 40, size: wanted))
    }
}
