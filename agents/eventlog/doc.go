// Package eventlog is the log of what happens in a run: events, numbered from 0.
//
//	log := eventlog.New(eventlog.Config{Run: id, Store: store, Bus: bus, Log: logger, Lost: lost})
//	log.Append(eventlog.Event{Type: eventlog.Chunk, Content: "Hello"})
//
// The newest events stay in memory for readers in this process, which are told of each one at once. The
// store gets events in pieces, and readers in other processes are told over the bus when it has them.
// Appending never waits for a reader, nor for the store. A reader that has fallen behind what is in memory
// goes on from the store.
//
// What is appended is redacted before: a log holds no credential. A Log may be used by many goroutines.
package eventlog
