// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import TestSupport
import Testing

@testable import Imaging

@Suite("Transform texts")
struct TransformPipelineTests {
    @Test(
        "A text has one canonical spelling",
        arguments: [
            ("resize:300x200", "resize:size=300x200"),
            ("resize:300x200:fit:center:0", "resize:size=300x200"),
            ("resize:0300.50x:cover:smart:1", "resize:enlarge=1:gravity=smart:mode=cover:size=300.5x"),
            (
                "resize:x200:gravity=focal:mode=cover:fy=0.250",
                "resize:fy=0.25:gravity=focal:mode=cover:size=x200"
            ),
            ("resize:50pcx", "resize:size=50pcx"),
            ("crop:10x10:x=-5:y=0", "crop:size=10x10:x=-5:y=0"),
            ("crop:10x10:center:x=5", "crop:gravity=share:size=10x10:x=5"),
            ("rotate:-90.500:1:transparent", "rotate:angle=-90.5"),
            ("rotate:90:color=FFFFFFFF", "rotate:angle=90:color=fff"),
            ("round:max:br+tl+tr+bl", "round:radius=max"),
            ("round:20:br+tl:0:000", "round:corners=tl+br:radius=20"),
            ("tint:RebeccaPurple", "tint:color=639"),
            ("tint:ff880080:multiply", "tint:color=ff880080"),
            ("tint:ff880080:source-in", "tint:color=ff880080:mode=source-in"),
            ("blur:2.000", "blur:sigma=2"),
            ("grayscale:1", "grayscale"),
            ("grayscale:amount=.5", nil),
            ("orient:auto", ""),
            ("trim:10", "trim"),
            ("trim:color=FFF", "trim:color=fff"),
            ("extend:8x9:center:transparent:color", "extend:color=0000:size=8x9"),
            ("sharpen:0.500:1.0", "sharpen"),
            ("invert:1,sepia:1", "invert,sepia"),
            ("text:Hello_there:24:sans:000:center", "text:text=Hello_there"),
            ("text:text64=SGVsbG8gdGhlcmU", "text:text=Hello_there"),
            ("text:text64=YV9i", "text:text64=YV9i"),
            ("text:text64=R3LDvMOfZQ:color=F00", "text:color=f00:text64=R3LDvMOfZQ"),
            ("watermark:logo:southeast:0:0:opacity=1", "watermark:name=logo"),
            ("text:text64=AQ", nil),
            ("text:text64=_w", nil),
            ("text:_", nil),
            ("text:24", "text:text=24"),
            ("text:size=24", nil),
            ("text:a:text64=YQ", nil),
            ("loop:0,speed:2.0,reverse", "loop:count=0,speed:factor=2,reverse"),
            ("flip:h,orient:6", "orient:value=6,flip:direction=h"),
            ("resize:10x10,round:2,blur:1", "resize:size=10x10,round:radius=2,blur:sigma=1"),
        ] as [(String, String?)])
    func canonicalSpelling(text: String, key: String?) throws {
        guard let key else {
            #expect(throws: TransformError.self) { try TransformPipeline(parsing: text) }
            return
        }

        let pipeline = try TransformPipeline(parsing: text)

        #expect(pipeline.transformerKey == key)
        if !key.isEmpty {
            #expect(try TransformPipeline(parsing: key) == pipeline, "the canonical spelling reads as itself")
        }
    }

    @Test(
        "An error names operation, parameter, position and problem",
        arguments: [
            ("", .emptyOperation, nil, nil, 0),
            ("blur:1,", .emptyOperation, nil, nil, 7),
            ("blur:1,,flip:h", .emptyOperation, nil, nil, 7),
            ("sparkle:1", .unknownOperation(hint: nil), "sparkle", nil, 0),
            ("greyscale", .unknownOperation(hint: "did you mean 'grayscale'?"), "greyscale", nil, 0),
            ("blur:1,rezise:9x", .unknownOperation(hint: "did you mean 'resize'?"), "rezise", nil, 7),
            ("blur:1,Blur:2", .unknownOperation(hint: "did you mean 'blur'?"), "Blur", nil, 7),
            ("blur:1,resize", .missing, "resize", "size", 7),
            ("resize:10x10:", .emptyValue, "resize", "mode", 13),
            ("resize:10x10:mode=", .emptyValue, "resize", "mode", 18),
            (
                "resize:10x10:depth=3",
                .unknownParameter(hint: "it has " + Resize.parameters.map(\.name).joined(separator: ", ")),
                "resize", "depth", 13
            ),
            (
                "resize:9x9,cover",
                .unknownOperation(
                    hint: "a value follows its operation behind ':', such as resize:300x200:cover"),
                "cover", nil, 11
            ),
            (
                "text",
                .malformed(
                    expected:
                        "text:Words_of_it, or text:text64= with what the grammar does not allow, in base64url"
                ),
                "text", "text", 0
            ),
            (
                "resize:10x10:gravty=smart", .unknownParameter(hint: "did you mean 'gravity'?"), "resize",
                "gravty",
                13
            ),
            ("resize:10x10:mode=fit:smart", .positionalAfterNamed, "resize", nil, 22),
            ("resize:10x10:size=20x20", .repeated, "resize", "size", 13),
            ("flip:h:v", .tooManyValues, "flip", nil, 7),
            ("blur:1 0", .invalidCharacter, "blur", nil, 6),
            ("bl\u{fc}r:1", .invalidCharacter, nil, nil, 2),
            ("blur:sigma=1=2", .invalidCharacter, "blur", nil, 12),
            ("resize:10x10:cover:gravity=smart,orient:1,orient:2", .repeated, "resize", "gravity", nil),
            ("orient:1,orient:2", .repeated, "orient", nil, 9),
            ("crop:10x10:smart:x=1", .conflict(with: "x and y"), "crop", "gravity", 11),
            (
                "resize:10x10:fill:smart", .conflict(with: "mode=fill; only with cover, crop or auto"),
                "resize",
                "gravity", 18
            ),
            (
                "flip:h,resize:10x10:gravity=north",
                .conflict(with: "mode=fit, the default; only with cover, crop or auto"), "resize", "gravity",
                20
            ),
            (
                "resize:10x10:x=5", .conflict(with: "mode=fit, the default; only with cover, crop or auto"),
                "resize", "x", 13
            ),
            ("resize:10x10:cover:bound=side", .conflict(with: "mode=cover"), "resize", "bound", 19),
            ("resize:mode=cover", .missing, "resize", "size", 0),
            (
                "crop:10x10:focal:px=1", .malformed(expected: "both px and py, with gravity=focal"), "crop",
                "px", 17
            ),
            ("extend:9x9:fx=0.5", .conflict(with: "gravity other than focal and share"), "extend", "fx", 11),
            ("watermark:logo:scale=0.5:width=1", .conflict(with: "scale"), "watermark", "width", 25),
            ("crop:10x10:fx=0.5", .conflict(with: "gravity=center"), "crop", "fx", 11),
        ] as [(String, TransformError.Problem, String?, String?, Int?)])
    func errors(
        text: String, problem: TransformError.Problem, operation: String?, parameter: String?, position: Int?
    ) throws {
        let error = #expect(throws: TransformError.self) { try TransformPipeline(parsing: text) }

        if let position {
            #expect(
                error == TransformError(problem, operation: operation, parameter: parameter, at: position))
        }
    }

    @Test(
        "A value of the wrong type or range is refused with its position",
        arguments: [
            "blur:0", "blur:0.09", "blur:251", "blur:-1", "blur:+1", "blur:1e2", "blur:1.2345", "blur:.5",
            "blur:1.",
            "blur:0x10", "blur:9999999999", "blur:x", "rotate:361", "rotate:--1", "resize:300", "resize:x",
            "resize:1x2x3", "resize:0x10", "resize:-1x10", "resize:10pxx", "resize:1001pcx", "resize:100001x",
            "resize:axb", "tint:12", "tint:12345", "tint:ggg", "tint:notacolour", "tint:fff:hue", "flip:vh",
            "round:20:tl+tl", "round:20:tl+xx", "round:20:", "round:-1", "orient:9", "orient:0",
            "grayscale:1.001",
        ])
    func wrongValues(text: String) throws {
        let error = #expect(throws: TransformError.self) { try TransformPipeline(parsing: text) }

        #expect(error?.operation == text.split(separator: ":").first.map(String.init))
        #expect(error?.parameter != nil)
        #expect(
            error?.position
                == text.lastIndex(of: ":").map { text.utf8.distance(from: text.startIndex, to: $0) + 1 })
        switch error?.problem {
        case .malformed, .outOfRange, .emptyValue: break
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test("The number of operations is limited, and the error has the position of the first one beyond")
    func operationLimit() throws {
        #expect(try TransformPipeline(parsing: "flip:h,flip:v", operationLimit: 2).isEmpty == false)

        let error = #expect(throws: TransformError.self) {
            try TransformPipeline(parsing: "flip:h,flip:v,flip:h", operationLimit: 2)
        }

        #expect(error == TransformError(.tooManyOperations(limit: 2), at: 14))
    }

    @Test(
        "dpr multiplies sizes, offsets, radius, border and sigma, but no percentage, angle or fraction",
        arguments: [
            ("resize:300x200.5", 2, "resize:size=600x401"),
            ("resize:50pcx:cover:focal:fx=0.3", 2, "resize:fx=0.3:gravity=focal:mode=cover:size=50pcx"),
            ("crop:10x10:x=-5:y=7", 1.5, "crop:size=15x15:x=-7.5:y=10.5"),
            ("round:20:border=2.5", 3, "round:border=7.5:radius=60"),
            ("round:max", 3, "round:radius=max"),
            ("blur:0.5,rotate:45", 2, "blur:sigma=1,rotate:angle=45"),
            ("orient:3,flip:h", 2, "orient:value=3,flip:direction=h"),
            ("blur:0.333", 1.5, "blur:sigma=0.5"),
            ("pad:1:2:3:50pc", 2, "pad:bottom=6:left=50pc:right=4:top=2"),
            ("pad:1", 2, "pad:bottom=2:left=2:right=2:top=2"),
            ("extend:10x20,pixelate:4", 2, "extend:size=20x40,pixelate:size=8"),
            ("sharpen,mask:circle,hue:90", 2, "sharpen:sigma=1,mask:shape=circle,hue:degrees=90"),
            ("sharpen:1:2", 2, "sharpen:amount=2:sigma=2"),
            ("text:a", 2, "text:size=48:text=a"),
            ("text:a:10:x=3,watermark:logo:y=2", 3, "text:size=30:text=a:x=9,watermark:name=logo:y=6"),
        ] as [(String, Double, String)])
    func scaling(text: String, dpr: Double, key: String) throws {
        #expect(try TransformPipeline(parsing: text).scaled(by: dpr).transformerKey == key)
    }

    @Test(
        "Values of pad by position stand for the sides that CSS's padding gives them; by name each is for its own side",
        arguments: [
            ("pad:1", "pad:bottom=1:left=1:right=1:top=1"), ("pad:1:2", "pad:bottom=1:left=2:right=2:top=1"),
            ("pad:1:2:3", "pad:bottom=3:left=2:right=2:top=1"),
            ("pad:1:2:3:4", "pad:bottom=3:left=4:right=2:top=1"), ("pad:top=1", "pad:top=1"),
            ("pad:1:bottom=0", "pad:left=1:right=1:top=1"), ("pad:left=5", "pad:left=5"),
        ])
    func padding(text: String, key: String) throws {
        #expect(try TransformPipeline(parsing: text).transformerKey == key)
    }

    @Test("A length that dpr scales out of range is refused, without a position in the text")
    func scalingOutOfRange() throws {
        let error = #expect(throws: TransformError.self) {
            try TransformPipeline(parsing: "blur:200").scaled(by: 2)
        }

        #expect(error?.operation == "blur")
        #expect(error?.parameter == "sigma")
        #expect(error?.position == nil)
    }

    @Test("A pipeline is encoded as its canonical text, and decoded from it")
    func coding() throws {
        for text in ["resize:300x200:cover,round:20", ""] {
            let pipeline = text.isEmpty ? TransformPipeline() : try TransformPipeline(parsing: text)
            let data = try JSONEncoder().encode([pipeline])

            #expect(try JSONDecoder().decode([TransformPipeline].self, from: data) == [pipeline])
        }
    }

    @Test("The gallery has a row for every operation, and each row is a valid text")
    func gallery() throws {
        let rows = TextFiles.read("demo/gallery/operations.txt").split(separator: "\n").map(String.init)
        let names = try rows.flatMap { row in
            _ = try TransformPipeline(parsing: row, operationLimit: 32)
            return row.split(separator: ",").map { String($0.prefix { $0 != ":" }) }
        }

        #expect(Set(names) == Set(TransformRegistry.all.map { $0.name }))
    }

    @Test("The catalogue describes every operation by its own declaration")
    func catalogue() {
        let catalogue = TransformPipeline.catalogue

        #expect(
            TransformRegistry.all.map { $0.name } == [
                "resize", "crop", "inset", "trim", "pad", "extend", "rotate", "flip", "orient", "round",
                "mask", "tint", "blur", "sharpen", "pixelate", "brightness", "contrast", "saturation",
                "gamma", "exposure", "hue", "grayscale", "invert", "sepia", "duotone", "channels", "curve",
                "sigmoid", "modulate", "equalize", "convolve", "noise", "opacity", "opaque", "background",
                "watermark", "text", "speed", "delay", "loop", "reverse",
            ])
        func fact(_ operation: String, _ parameter: Int, _ name: String) -> JSONValue? {
            let index = TransformRegistry.all.firstIndex { $0.name == operation } ?? -1
            return catalogue.inside(["\(index)", "parameters", "\(parameter)", name])
        }
        #expect(
            (0..<6).map { fact("resize", $0, "name") }
                == [
                    "size", "mode", "gravity", "enlarge", "fx", "fy",
                ].map(JSONValue.string))
        #expect(fact("resize", 0, "required") == .bool(false))
        #expect(fact("resize", 0, "scaledByDPR") == .bool(true))
        #expect(
            fact("resize", 1, "choices")
                == .strings(["fit", "cover", "crop", "auto", "outside", "fill"]))
        #expect(fact("crop", 0, "required") == .bool(true))
        #expect(fact("gamma", 0, "minimum") == .number(0.1))
        #expect(fact("resize", 1, "default") == .string("fit"))
        for (index, operation) in TransformRegistry.all.enumerated() {
            #expect(catalogue.inside(["\(index)", "name"]) == .string(operation.name))
            #expect(catalogue.inside(["\(index)", "summary"]) == .string(operation.summary))
            #expect(!operation.summary.isEmpty)
            for place in operation.parameters.indices {
                #expect(![nil, .string("")].contains(fact(operation.name, place, "summary")))
            }
        }
    }
}
