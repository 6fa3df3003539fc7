// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Freshness
@testable import Imaging
@testable import Pipeline
@testable import Primitives
@testable import Request
@testable import URLs

@Suite("Errors of wrong parameters")
struct ImageRequestHintTests {
    private static let url = "url=http%3A%2F%2Fexample.org%2Fa.jpg"

    @Test("A preset's check reports each wrong parameter")
    func presetProblems() {
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: RequestPolicy(sources: .unrestricted))
        let preset = Preset(parameters: [
            "format": "bmp", "quality": "700", "transform": "blur:x", "tranform": "flip", "sig": "a",
            "dpr": "2",
            "placeholder": "none",
        ])

        let problems = parser.problems(of: preset)

        #expect(
            problems.map { PipelineError($0).parameter?.name }
                == ["format", "placeholder", "quality", "sig", "tranform", "transform"])
        let last = problems.last.map(PipelineError.init)?.detail
        #expect(last?.contains("position 5: blur:sigma: expected ") == true)
    }

    @Test("An unknown parameter, and the place of an error in the transform, are named to the client")
    func places() {
        let unknown = PipelineError(ImageRequestError.unknownParameter(name: "w", hint: "use 'transform'"))
        let wrong = PipelineError(
            ImageRequestError.invalidParameter(name: "transform", position: 7, reason: "no operation"))

        #expect(unknown.row.code == "unknown_parameter")
        #expect(unknown.detail == "'w' is no parameter; use 'transform'")
        #expect(wrong.parameter == PipelineError.Parameter(name: "transform", position: 7))
    }

    @Test("A hint for a preset's or /info's parameter is a sentence of its own")
    func hintSentences() throws {
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: RequestPolicy(sources: .unrestricted))
        let error = #expect(throws: ImageRequestError.self) {
            try parser.parseInformation(target: Array("/info?\(Self.url)&transform=flip".utf8), at: 0)
        }

        #expect(
            error.map { PipelineError($0) }?.detail
                == "'transform' is no parameter; /info takes expires, options, priority, tag, url, url64")
    }
}
