// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ImageProxyd
@testable import Observability

@Suite("The text of the metrics")
struct MetricsTextTests {
    @Test("Requests that wait at the same time share a text, with figures from after they came")
    func shared() async {
        let metrics = Metrics(loops: 1, version: "test")
        let readings = Observed(0)
        metrics.cacheBytes.collect {
            readings.update { $0 += 1 }
            return []
        }
        let text = MetricsText(metrics)

        let texts = await withTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<100 { group.addTask { await text.bytes(as: .prometheus) } }
            return await group.reduce(into: []) { $0.append($1) }
        }

        #expect(texts.count == 100 && texts.allSatisfy { !$0.isEmpty })
        #expect(readings.value < 50)
        let before = readings.value
        _ = await text.bytes(as: .openMetrics)
        #expect(readings.value == before + 1)
    }
}
