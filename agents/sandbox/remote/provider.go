package remote

import (
	"context"
	"errors"
	"io"
	"time"
)

// Provider lends sandboxes. Its methods are safe for concurrent use and return soon after their context
// ends.
type Provider interface {
	// Name is the provider's name in the settings.
	Name() string
	// Create asks for a sandbox, which may not be ready yet. An error with a method Lost() bool that
	// returns true leaves open whether there is one. An error with a method Says() string has the words of
	// the server, which are for the log only.
	Create(ctx context.Context, o Order) (Sandbox, error)
	// List returns the sandboxes of an installation that have not ended. It may miss very new ones.
	List(ctx context.Context, installation string) ([]Found, error)
	// Delete ends a sandbox with all that runs in it. It is no error that it is not there. It is the
	// caller who tries again.
	Delete(ctx context.Context, id string) error
	// Close gives back what the provider holds here. The sandboxes stay.
	Close()
}

// Sandbox is a sandbox that a provider has lent.
type Sandbox interface {
	ID() string
	// Ready reports whether the sandbox can be used. An error says that it never will.
	Ready(ctx context.Context) (bool, error)
	// Put writes a file. content writes all of it each time that it is called.
	Put(ctx context.Context, path string, content func(io.Writer) error) error
	// Exec runs a line of sh and waits for its end. The line has no quotes in it. When the context ends
	// first, the line is stopped, as far as the provider can stop it.
	Exec(ctx context.Context, line string) (exit int, err error)
	// Get reads a file of at most limit bytes.
	Get(ctx context.Context, path string, limit int64) ([]byte, error)
}

// Order is what a sandbox is to be like.
type Order struct {
	Installation string // label of the data folder that it belongs to
	Run          string // label of the run that it is for
	// Life is after how long the provider should end the sandbox by itself, should nobody else do so.
	Life time.Duration
	// Offline wants no network. A provider that cannot promise that refuses the order.
	Offline bool
}

// The labels of sandboxes at providers.
const (
	LabelInstallation = "svc-installation"
	LabelRun          = "svc-run"
)

// Found is a sandbox in a provider's list.
type Found struct{ ID, Run string }

// lost reports whether an error leaves open whether the request had an effect.
func lost(err error) bool {
	l, ok := errors.AsType[interface {
		error
		Lost() bool
	}](err)
	return ok && l.Lost()
}

// says returns the words of the server that an error is about.
func says(err error) string {
	if s, ok := errors.AsType[interface {
		error
		Says() string
	}](err); ok {
		return s.Says()
	}
	return ""
}
