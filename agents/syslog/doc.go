// Package syslog receives log messages of devices and programs and puts them into a table of the
// analytical database, where agents and people ask for them.
//
//	r, err := syslog.Listen(ctx, config)
//	for _, a := range r.Addresses() { … }
//	totals := r.Serve(ctx)
//
// Messages come in datagrams (RFC 5426) and in streams, plain (RFC 6587) or in TLS (RFC 5425), in the
// form of RFC 5424, of RFC 3164 or of a device's own. What has no known form is kept as it came. Nobody proves who sent a
// datagram or wrote a message: the text is data, and a message that looks like an instruction to an agent
// is marked.
//
// # Guarantees
//
// Senders are never made to wait. What comes faster than it can be stored is dropped and counted, also
// what the kernel drops before anybody reads it, and a message of the receiver's own in the table says
// how many are missing. A message, a line, a connection and all that waits have bounds. Messages that
// came in are stored before Serve returns, or counted.
//
// # Concurrency
//
// A Receiver serves once. Its methods are safe for concurrent use.
package syslog
