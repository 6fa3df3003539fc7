// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Imaging

@Suite("The reference of operations")
struct ReferenceTests {
    @Test("docs/transforms.md contains the table of the declarations (imageproxyd transforms --markdown)")
    func table() {
        let page = TextFiles.read("docs/transforms.md")

        #expect(page.contains(TransformPipeline.referenceTable))
    }

    @Test("Every operation and every parameter is described in one line")
    func lines() {
        for operation in TransformRegistry.all {
            #expect(operation.summary.hasSuffix(".") && !operation.summary.contains("\n"))
            for parameter in operation.parameters {
                #expect(parameter.doc.hasSuffix("."), "\(operation.name):\(parameter.name)")
                #expect(!parameter.doc.contains("|") && !parameter.kind.expectation.contains("|"))
            }
        }
    }
}
