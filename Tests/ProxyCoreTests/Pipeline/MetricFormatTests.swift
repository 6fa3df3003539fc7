// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging
@testable import Observability

@Suite("Formats in the metrics")
struct MetricFormatTests {
    @Test("Formats that are written have the names that their module uses")
    func names() {
        for format in ImageFormat.allCases {
            #expect((Metric.Format(named: format.rawValue) != .none) == format.traits.isWritable, "\(format)")
        }
    }
}
