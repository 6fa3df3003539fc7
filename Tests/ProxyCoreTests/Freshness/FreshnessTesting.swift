// SPDX-License-Identifier: Apache-2.0

@testable import Freshness
@testable import Primitives

/// Tests of the lifetime that a response's head gives.
protocol FreshnessTesting {}

extension FreshnessTesting {
    /// The `Date` of the responses, in seconds since 1970.
    var date: Int64 { 1_795_219_200 }

    func policy(_ configuration: FreshnessConfiguration = FreshnessConfiguration()) -> FreshnessPolicy {
        FreshnessPolicy(configuration: configuration)
    }

    func http(_ seconds: Int64) -> String { HTTPDate(seconds: seconds).description }

    func lifetime(
        _ fields: [(String, String)], _ configuration: FreshnessConfiguration = FreshnessConfiguration()
    ) -> Int64 {
        policy(configuration).verdict(on: head(fields + [("date", http(date))])).freshnessLifetime
    }

    func head(
        _ fields: [(String, String)], status: Int = 200, requestTime: Int64? = nil, responseTime: Int64? = nil
    ) -> OriginHead {
        OriginHead(
            status: status, fields: fields.map { HeaderField(name: $0.0, value: $0.1) },
            contentLength: nil,
            requestTime: WallTime(seconds: requestTime ?? responseTime ?? date),
            responseTime: WallTime(seconds: responseTime ?? date))
    }
}
