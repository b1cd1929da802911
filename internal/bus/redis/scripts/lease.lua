-- Takes or renews a lease; see Lease of bus.Bus. KEYS: the lease, the last token of its slot.
-- ARGV: holder, ttl in ms.
local now = redis.call('HMGET', KEYS[1], 'holder', 'token')
if now[1] and now[1] ~= ARGV[1] then
  return 0
end
local token = tonumber(now[2])
if not now[1] then
  -- Greater than all before: they are remembered, and where they are not (no persistence, a
  -- replica that lagged behind) the clock has gone on.
  local time = redis.call('TIME')
  token = math.max(tonumber(redis.call('GET', KEYS[2]) or 0) + 1, time[1] * 1000000 + time[2])
  local text = string.format('%.0f', token)
  redis.call('SET', KEYS[2], text)
  redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'token', text)
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return token
