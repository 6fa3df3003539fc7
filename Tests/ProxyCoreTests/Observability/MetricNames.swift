// SPDX-License-Identifier: Apache-2.0

@testable import Observability

/// The names of metrics in an expression of PromQL, compared with those that exist.
enum MetricNames {
    /// Every name that a sample of the daemon can have.
    static let known: Set<String> = {
        let families = Metrics(loops: 1, version: "").families + ProcessMetrics.families()
        return Set(
            families.flatMap { family in
                family.row.kind == .histogram
                    ? ["_bucket", "_sum", "_count"].map { family.row.name + $0 } : [family.row.name]
            })
    }()

    /// The names in a text that look like metrics of the daemon or its process; not those of recorded ratios.
    static func mentioned(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(?:imageproxyd|process)_[a-z_]+[a-z](?![a-z_:])/).map { String($0.0) })
    }
}
