-- SPDX-License-Identifier: Apache-2.0
-- One request over and over; wrk prepares it once. The last line printed is for lib/load.py.
function done(summary)
    local errors = summary.errors
    io.write(string.format("BENCH %d %d %d\n", summary.requests, summary.bytes,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
