// Package redis is the live bus of a fleet: what several gateways share, in a Redis that stands
// alone, behind sentinels or as a cluster.
//
//	b, err := redis.Open(ctx, settings.Bus, redis.Options{Env: os.LookupEnv, Trouble: log})
//	defer b.Close()
//
// # How
//
// Leases, rooms, counters and buckets are Lua scripts, one round trip each, that reckon with the
// server's clock, so that the clocks of the gateways do not matter. All keys of a script are in one
// slot of a cluster. Messages go over publish and subscribe: one connection listens for the whole
// process, one goroutine publishes in the order of the calls, and neither a publisher nor a
// subscriber waits for the other. What a process publishes reaches its own subscribers at once and
// without the server.
//
// # While the server is away
//
// Away is: cannot be reached, is too slow, refuses (memory, permission, read-only replica), or is
// not heard. [Bus.Health] has the reason, Options.Trouble is called once when it begins and once when
// it is over. An operation that fails sets the state at once; a probe that tries every command the
// bus needs decides how it goes on, first immediately, then with growing pauses up to a second.
//
//   - Lease, Release, Holder, Enter and Leave fail with [bus.ErrUnavailable].
//   - Count and Take go on with counters and buckets of this process, which begin empty and last,
//     for the next time, as long as their windows; nothing is merged afterwards. Clear is made good when the
//     server is back.
//   - Messages reach the subscribers of this process. All subscribers of all processes that missed
//     some are told by Lost, and woken, both when they are cut off and when they hear again; a
//     publisher that could not send says so to everybody when it can.
//
// # What a time-out leaves open
//
// An operation takes bus.timeout at most, all attempts together. What may be done twice without harm (leases,
// rooms, looking) is sent again once when its connection broke. Count and Take are not: after an
// error it is unknown whether the server has counted, and the process counts for itself; so a failure may
// count twice, never not at all. A message may be lost, and then says so, but is never sent twice.
//
// # Guarantees
//
// Those of package bus, as far as the Redis keeps what it was told. It loses leases, rooms and
// counts when it restarts without persistence, when a replica that lagged behind takes over, and
// when it may evict keys (maxmemory-policy must be noeviction). Fencing tokens grow even then,
// unless the server's clock is set back at the same time; whoever needs more than a lease passes
// the token to what it writes to. Times are kept in milliseconds, those of buckets in microseconds.
//
// A Bus is safe for concurrent use. The goroutines it starts end with Close.
package redis
