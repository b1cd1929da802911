-- Takes a token from a bucket with the generic cell rate algorithm: what is kept is the moment at
-- which the bucket is full again, in µs. KEYS: the bucket. ARGV: burst, µs that bring a token back.
-- Returns whether there was one, and the µs until the bucket is full.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local next = full + ARGV[2]
if next - now > ARGV[1] * ARGV[2] then
  return {0, full - now}
end
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', math.ceil((next - now) / 1000))
return {1, next - now}
