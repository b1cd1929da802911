// Package remote runs programs in sandboxes that somebody else lends over the network.
//
//	box := remote.Open(remote.Config{Provider: provider, Installation: id, Log: log})
//	defer box.Close()
//	result, err := box.Run(ctx, sandbox.Spec{Args: []string{"python3", "-c", code}})
//
// A [Box] does what a [sandbox.Box] does, with the same Spec and the same Result, so that either can
// stand in for the other. A [Provider] is what one company's API looks like to a Box; the packages
// below this one hold one each. What all of them have in common is here: the clock, the files that go
// there and come back, and the deletion.
//
// # Guarantees
//
// Nothing of the host is sent but the program, the files of its Spec and its Database, within a limit of
// size. A run ends when the box's own clock says so, whatever the provider answers. Each run has a
// sandbox of its own, which is deleted when the run ends, however it ends. A deletion that fails is
// repeated until it succeeds, is a warning in the log, stands in the result, and is told to Config.Tell.
// Sandboxes carry labels with the id of the installation: those of a process that has died are deleted
// by the next one. Answers are read up to a limit. The key goes to the address in the settings, over TLS
// or to this host, and never to where a redirect points.
//
// What a program prints and leaves behind comes from a machine that the program could change. It is
// read as something that anybody may have written.
//
// A Box is safe for concurrent use.
package remote
