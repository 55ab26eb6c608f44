-- Sends requests of one kind. Arguments: the kind, a number that differs in each run, and a user's token.
-- For `delete`, the number is how many plants earlier runs have deleted.
local create = '{"id":%d,"name":"Fern","tag":"indoor"}'
local kind, first, token
local sent = 0

-- Almost certainly an unused id.
local function randomId()
  return math.random(1000000, 2 ^ 52)
end

local function send(method, path, body)
  local headers = { authorization = 'Bearer ' .. token, ['content-type'] = body and 'application/json' }
  return wrk.format(method, path, headers, body)
end

local requests = {
  create = function() return send('POST', '/plants', create:format(randomId())) end,
  -- The prime number makes the order irregular. Each id is deleted once.
  delete = function() return send('DELETE', '/plants/' .. 1 + (first + sent) * 7919 % 600000) end,
  ['whole list'] = function() return send('GET', '/plants') end,
  ['list 20'] = function() return send('GET', '/plants?limit=20') end,
  ['list 1000'] = function() return send('GET', '/plants?limit=1000') end,
  ['uncached list 20'] = function()
    token = 'pst_benchmark-gardener-' .. math.random(0, 498)
    return send('GET', '/plants?limit=20&after=' .. ('%d'):format(randomId()))
  end,
}
requests['80 % list 20, 20 % create'] = function() return requests[sent % 5 == 0 and 'create' or 'list 20']() end

function init(args)
  kind, first, token = args[1], tonumber(args[2]), args[3]
  math.randomseed(first)
end

function request()
  sent = sent + 1
  return requests[kind]()
end

function done(summary, latency)
  local failed = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
  local result = '{"requests":%d,"failed":%d,"requestsPerSecond":%f,"p50Ms":%f,"p99Ms":%f}'
  local perSecond = summary.requests / summary.duration * 1000000
  io.write(result:format(summary.requests, failed, perSecond, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
