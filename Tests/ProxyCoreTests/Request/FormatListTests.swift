// SPDX-License-Identifier: Apache-2.0

import Imaging
import Testing
@testable import Origins
import URLs

@testable import Request

@Suite("Lists of formats in parameters")
struct FormatListTests {
    @Test(
        "What is wrong in a list is named with its place, and the formats that may stand there",
        arguments: [
            ("quality", "75,foo:60", 3, "'foo'", "tiff"), ("quality", "75,png:60", 3, "'png'", "png,"),
            ("skip", "jpeg,foo", 5, "'foo'", "nothing"),
        ])
    func places(name: String, value: String, position: Int, wrong: String, absent: String) throws {
        var parameters = ImageParameters(buckets: Buckets([]))
        let read = try #require(ImageParameters.readers[name])

        do throws(ImageRequestError) {
            try read(&parameters, value)
            Issue.record("it is accepted")
        } catch {
            guard case .invalidParameter(name, position, let reason) = error else {
                Issue.record(error)
                return
            }
            #expect(reason.contains(wrong) && reason.contains("webp"))
            #expect(!reason.contains(absent), "\(reason)")
        }
    }
}

@Suite("Frames that parameters name")
struct FrameParameterTests {
    @Test("One frame may be named twice over, as other proxies' URLs do, and it is the one of that number")
    func frameBesideFirst() throws {
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: RequestPolicy(sources: try SourcePolicy(patterns: [])))
        let request = try parser.parse(
            query: Array("url=https://a.example/b.gif&animate=first&frame=2".utf8)
        ) { AcceptClass() }

        #expect(request.plan?.frame == 2)
        #expect(request.plan?.frameCount == nil)
    }
}
