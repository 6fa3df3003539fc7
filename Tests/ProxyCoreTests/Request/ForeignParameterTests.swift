// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Request

@Suite("Names of parameters that are none")
struct ForeignParameterTests {
    @Test(
        "A misspelt operation is found where it stands as a parameter, behind parameters of nearly that name")
    func operations() {
        #expect(
            ForeignParameter.hint(for: "rezise")
                == "did you mean the operation 'resize'? Operations belong to 'transform'")
        #expect(ForeignParameter.hint(for: "qality") == "did you mean 'quality'?")
        #expect(ForeignParameter.hint(for: "blur")?.hasPrefix("operations belong to 'transform'") == true)
        #expect(ForeignParameter.hint(for: "utm_campaign") == nil)
    }
}
