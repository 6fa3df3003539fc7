// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging
@testable import Request
@testable import URLs

@Suite("Names of parameters that are none")
struct ParameterHintTests {
    @Test(
        "A misspelt operation is found where it stands as a parameter, behind parameters of nearly that name")
    func operations() {
        #expect(
            ParameterHint.hint(for: "rezise")
                == "did you mean the operation 'resize'? Operations belong to 'transform'")
        #expect(ParameterHint.hint(for: "qality") == "did you mean 'quality'?")
        #expect(ParameterHint.hint(for: "blur")?.hasPrefix("operations belong to 'transform'") == true)
        #expect(ParameterHint.hint(for: "utm_campaign") == nil)
    }

    @Test("The name of a preset or a placeholder that is misspelt gets the one that was probably meant")
    func misspeltNames() throws {
        var policy = RequestPolicy(sources: .unrestricted)
        policy.presets = ["thumb": Preset(parameters: ["format": "png"])]
        policy.placeholders = ["grey"]
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: policy)
        let cases = [
            ("preset=thmb", "there is no preset 'thmb' in the setting presets; did you mean 'thumb'?"),
            ("preset=avatar", "there is no preset 'avatar' in the setting presets"),
            (
                "placeholder=gray",
                "there is no placeholder 'gray' in the setting placeholders; did you mean 'grey'?"
            ),
        ]
        for (parameters, reason) in cases {
            let error = #expect(throws: ImageRequestError.self) {
                try parser.parse(query: Array("url=https://example.org/a.jpg&\(parameters)".utf8)) {
                    AcceptClass()
                }
            }
            let name = String(parameters.prefix { $0 != "=" })
            #expect(error == .invalidParameter(name: name, position: 0, reason: reason))
        }
        // Comparing with many would take time, and any client could cause it.
        let many = (0..<100).map { ("other\($0)", Preset(parameters: ["format": "png"])) }
        policy.presets.merge(many) { first, _ in first }
        let crowded = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: policy)
        let error = #expect(throws: ImageRequestError.self) {
            try crowded.parse(query: Array("url=https://example.org/a.jpg&preset=thmb".utf8)) {
                AcceptClass()
            }
        }
        #expect(
            error
                == .invalidParameter(
                    name: "preset", position: 0, reason: "there is no preset 'thmb' in the setting presets"))
    }
}
