// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging
@testable import Observability

@Suite("Formats in the metrics")
struct MetricFormatTests {
    @Test("Formats have the names that their module uses")
    func names() {
        #expect(ImageFormat.allCases.allSatisfy { Metric.Format(named: $0.rawValue) != .none })
        #expect(Metric.Format(named: "bmp") == .none)
    }
}
