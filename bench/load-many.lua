-- SPDX-License-Identifier: Apache-2.0
-- Another request each time: arguments are BEFORE, AFTER, and how many there are (0: never the same twice).
-- A prime step visits all of a set in an order that no cache can profit from.
local before, after, count, number = "", "", 0, 0
local step = 7919

function init(arguments)
    before, after, count = arguments[1], arguments[2] or "", tonumber(arguments[3])
end

function request()
    number = number + 1
    local name = count > 0 and string.format("%05d", number * step % count) or tostring(number)
    return wrk.format(nil, before .. name .. after)
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format("BENCH %d %d %d %d %d\n", summary.requests, summary.bytes,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
end
