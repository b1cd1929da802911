// Package protocol is a small client of the graph-based agent server protocol: threads, runs in the
// background, their streams with re-join, states with what they wait for, answers to that, and cancelling.
//
//	c, err := protocol.New(protocol.Config{URL: "https://agents.example.com", Key: key})
//	err = c.CreateThread(ctx, thread)
//	run, err := c.Start(ctx, thread, protocol.Start{Assistant: "core", Text: "how full are the disks?"})
//	err = c.Join(ctx, thread, run.ID, "", func(e protocol.Event) {})
//	state, err := c.State(ctx, thread)
//
// # Guarantees
//
// Nothing that a server sends is believed beyond its form. Answers, streams, events and headers are bounded
// in bytes and time. A redirect is an error, so the key goes to the host of the settings and no other. The
// address is looked at when the connection is made; no proxy of the environment is used. Errors hold no word
// of the server's. Nothing is sent twice: whoever gets an [Error] that is [Error.Unclear] asks what happened.
//
// # Concurrency
//
// A Client is safe for concurrent use.
package protocol
