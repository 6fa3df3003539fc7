-- SPDX-License-Identifier: Apache-2.0
-- Another request each time: arguments are BEFORE, AFTER, and how many there are (0: never the same twice;
-- below 0: so many, with numbers that are not padded with zeros, from the fourth argument on).
-- A prime step visits all of a set in an order from which no cache can profit.
local before, after, count, first, number = "", "", 0, 0, 0
local step = 7919

function init(arguments)
    before, after, count = arguments[1], arguments[2] or "", tonumber(arguments[3])
    first = tonumber(arguments[4] or 0)
end

function request()
    number = number + 1
    local name = tostring(number)
    if count > 0 then
        name = string.format("%05d", number * step % count)
    elseif count < 0 then
        name = tostring(first + number * step % -count)
    end
    return wrk.format(nil, before .. name .. after)
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format("BENCH %d %d %d %d %d\n", summary.requests, summary.bytes,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
end
