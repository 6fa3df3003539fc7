-- SPDX-License-Identifier: Apache-2.0
-- The same request repeatedly; wrk prepares it once. The last line printed is for the driver: requests, bytes,
-- failures, and the microseconds of the median and of the 99th percentile.
function done(summary, latency)
    local errors = summary.errors
    io.write(string.format("BENCH %d %d %d %d %d\n", summary.requests, summary.bytes,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
end
