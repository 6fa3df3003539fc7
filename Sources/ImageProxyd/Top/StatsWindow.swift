// SPDX-License-Identifier: Apache-2.0

import Primitives

/// What the daemon has sent in the last seconds: counters become rates.
struct StatsWindow {
    /// How long a sample counts.
    private static let milliseconds = 60_000
    private var samples: [JSONValue] = []

    /// Adds what was sent; a daemon that was started again begins anew.
    mutating func add(_ sample: JSONValue) {
        if let last = samples.last,
            last.int("started") != sample.int("started")
                || last.int("milliseconds") > sample.int("milliseconds")
        {
            samples = []
        }
        samples.append(sample)
        let now = sample.int("milliseconds")
        samples.removeAll { now - $0.int("milliseconds") > Self.milliseconds }
    }

    /// The newest sample; an empty object before there is one.
    var last: JSONValue { samples.last ?? .object([]) }
    /// Whether there are rates.
    var hasRates: Bool { samples.count > 1 }
    /// The time between the first and the last sample, in seconds.
    var seconds: Double { Double(growth("milliseconds")) / 1_000 }

    /// A counter's growth.
    func growth(_ path: String...) -> Int {
        guard let first = samples.first else { return 0 }
        return max(0, last.int(path) - first.int(path))
    }

    func rate(_ growth: Int) -> Double { seconds > 0 ? Double(growth) / seconds : 0 }

    /// The names of the members of an object, such as the tiers.
    func names(_ name: String) -> [String] {
        guard case .object(let members)? = last[name] else { return [] }
        return members.map(\.name)
    }

    /// Requests for pictures.
    var requests: Int { names("answers").reduce(0) { $0 + growth("answers", $1) } }
    /// Answers of 400 and above.
    var failures: Int { growth("statuses", "4xx") + growth("statuses", "5xx") }

    /// The part of the requests that a tier answered; nil without requests.
    func share(_ tiers: String...) -> Double? {
        let all = requests
        return all > 0 ? Double(tiers.reduce(0) { $0 + growth("answers", $1) }) / Double(all) : nil
    }

    /// The part of the requests that a tier answered, whether local or shared; nil without requests.
    var hitRatio: Double? { share("memory", "disk", "stale", "shared") }

    /// The microseconds below which a part of the answers lies, interpolated in its bucket; nil without answers.
    func quantile(_ part: Double) -> Double? {
        guard let first = samples.first else { return nil }
        let bounds = last.list("latency", "microseconds").map(Double.init)
        let counts = zip(last.list("latency", "counts"), first.list("latency", "counts")).map {
            max(0, $0 - $1)
        }
        var left = part * Double(counts.reduce(0, +))
        guard left > 0, let most = bounds.last else { return nil }
        for (index, count) in counts.enumerated() {
            guard left > Double(count) else {
                let low = index > 0 ? bounds[index - 1] : 0
                let high = index < bounds.count ? bounds[index] : low
                return low + (high - low) * left / Double(count)
            }
            left -= Double(count)
        }
        return most
    }

    /// What the daemon has sent last, with rates.
    var json: JSONValue {
        func number(_ value: Double?) -> JSONValue {
            value.map { .number(($0 * 1_000).rounded() / 1_000) } ?? .null
        }
        let rates: JSONValue = [
            "seconds": number(seconds), "requestsPerSecond": number(rate(requests)),
            "failuresPerSecond": number(rate(failures)), "bytesPerSecond": number(rate(growth("bytes"))),
            "hitRatio": number(hitRatio),
            "p50Microseconds": number(quantile(0.5)), "p99Microseconds": number(quantile(0.99)),
        ]
        return last.setting(["rates"], to: rates)
    }
}
