-- Ends a lease of this holder. KEYS: the lease. ARGV: holder.
if redis.call('HGET', KEYS[1], 'holder') == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
return 0
