-- Adds to the counter of a window, or gives back. KEYS: the counter. ARGV: what to add, length of a new
-- window in ms.
-- Returns the total and the ms that are left of the window.
local n = tonumber(ARGV[1])
if n > 0 then
  if redis.call('EXISTS', KEYS[1]) == 1 then
    redis.call('INCRBY', KEYS[1], n)
  else
    redis.call('SET', KEYS[1], n, 'PX', ARGV[2])
  end
end
if n < 0 and redis.call('EXISTS', KEYS[1]) == 1 then
  if tonumber(redis.call('GET', KEYS[1])) + n > 0 then
    redis.call('INCRBY', KEYS[1], ARGV[1])
  else
    redis.call('DEL', KEYS[1])
  end
end
local total = redis.call('GET', KEYS[1])
if not total then
  return {0, 0}
end
return {tonumber(total), math.max(1, redis.call('PTTL', KEYS[1]))}
