-- Sends the requests that follow the first argument, in turn. The first argument is the random seed. If a request
-- contains NEXT_ID, it is the number of ids that earlier runs have used.
local first, requests
local sent = 0

local placeholders = {
  -- Almost certainly an unused id.
  SIXTEEN_DIGITS = function() return ('%d'):format(math.random(10 ^ 15, 2 ^ 52)) end,
  RANDOM_USER = function() return 'gardener-' .. math.random(0, 498) end,
  -- The prime number makes the order irregular. Each id is used once.
  NEXT_ID = function() return 1 + (first + sent) * 7919 % 900000 end,
}

local function fill(name)
  return placeholders[name]()
end

function init(args)
  first, requests = tonumber(table.remove(args, 1)), args
  math.randomseed(first)
end

function request()
  sent = sent + 1
  return (requests[sent % #requests + 1]:gsub('<([%u_]+)>', fill))
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.timeout
  local result = '{"requests":%d,"failed":%d,"requestsPerSecond":%f,"p50Ms":%f,"p99Ms":%f}'
  local perSecond = summary.requests / summary.duration * 1000000
  local p50Ms, p99Ms = latency:percentile(50) / 1000, latency:percentile(99) / 1000
  io.write(result:format(summary.requests, failed, perSecond, p50Ms, p99Ms))
end
