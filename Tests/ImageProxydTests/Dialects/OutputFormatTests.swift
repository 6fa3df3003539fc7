// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialects
@testable import Imaging

@Suite("Formats as dialects know them")
struct OutputFormatTests {
    private static func names(_ isOne: (any FormatTraits.Type) -> Bool) -> Set<String> {
        Set(ImageFormat.allCases.filter { $0.traits.isWritable && isOne($0.traits) }.map(\.rawValue))
    }

    @Test("What dialects know of formats is what the formats say of themselves")
    func rows() {
        #expect(OutputFormats.withQuality == Self.names { $0.sizeReduction == .quality })
        #expect(
            OutputFormats.losslessOnRequest
                == Self.names { $0.sizeReduction == .quality && $0.mayRequestLossless })
        #expect(OutputFormats.progressive == Self.names { $0.canBeProgressive })
    }
}
