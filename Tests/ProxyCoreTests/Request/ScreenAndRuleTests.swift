// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Freshness
@testable import Imaging
@testable import Origins
@testable import Request
@testable import URLs

@Suite("What a client's screen and a source's rule make of a request")
struct ScreenAndRuleTests {
    private func parse(
        _ query: String, hint: Double? = nil, _ change: (inout RequestPolicy) -> Void = { _ in }
    ) throws -> ImageRequest {
        var policy = RequestPolicy(sources: .unrestricted)
        change(&policy)
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: policy)
        let screen = hint.map { ImageRequestParser.ScreenHint(ratio: $0) }
        let text = "url=http%3A%2F%2Fexample.org%2Fa.jpg&" + query
        return try parser.parse(query: Array(text.utf8), dpr: screen) { AcceptClass() }
    }

    @Test("A screen that takes a value beyond its bounds gets the picture for a ratio of 1")
    func screenBeyondBounds() throws {
        for (query, ratio, key) in [
            ("transform=blur:100", 3, "blur:sigma=100"), ("transform=blur:80", 3, "blur:sigma=240"),
            ("transform=resize:1x", 0.5, "resize:size=1x"),
        ] as [(String, Double, String)] {
            let request = try parse("\(query)&dpr=auto", hint: ratio)
            #expect(request.plan?.pipeline.transformerKey == key && request.isHinted)
        }
        #expect(throws: ImageRequestError.self) {
            try parse("transform=blur:300&dpr=auto", hint: 3)
        }
    }

    @Test("An option that a rule of the source names has the effect of one in the URL")
    func ruleOptions() throws {
        var rule = OriginRuleConfiguration()
        rule.match = ["http://example.org/*"]
        rule.options = ["scale-down-large"]
        let origins = try OriginRules([rule], secrets: .checking)

        let request = try parse("transform=resize:9x") { $0.origins = origins }
        #expect(request.shrinksLarge)
        #expect(request.made(by: RenderPlan(format: .source)).shrinksLarge)
        #expect(try !parse("transform=resize:9x").shrinksLarge)
    }
}
