// Package contain runs code that may panic, or that does not notice that its time is over, so that
// neither harms who calls it.
//
//	res, err := contain.Run(ctx, 2*time.Second, func(ctx context.Context) (Result, error) { … })
//
// A panic is an error, [Panic]. Code that goes on after its context has ended is left behind when the
// grace is over, and what it returns then is dropped. [Traceback] says where an error came from, for
// records that people read. All of it is safe for concurrent use.
package contain

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// Panic is the error of code that panicked.
type Panic struct {
	Value any
	Stack string
}

func (p *Panic) Error() string { return fmt.Sprintf("the tool panicked: %v", p.Value) }

// Run calls do and returns what it returns. When ctx has ended, do has the grace to return: its error is
// then joined with the context's cause. After that the cause is the error.
func Run[T any](ctx context.Context, grace time.Duration, do func(ctx context.Context) (T, error)) (T, error) {
	type ended struct {
		res T
		err error
	}
	done := make(chan ended, 1)
	go func() {
		var e ended
		defer func() {
			if p := recover(); p != nil {
				e = ended{err: &Panic{p, string(debug.Stack())}}
			}
			done <- e
		}()
		e.res, e.err = do(ctx)
	}()
	select {
	case e := <-done:
		return e.res, e.err
	case <-ctx.Done():
	}
	enough := time.NewTimer(grace)
	defer enough.Stop()
	select {
	case e := <-done:
		if e.err == nil {
			return e.res, nil
		}
		return e.res, errors.Join(context.Cause(ctx), e.err)
	case <-enough.C:
		var none T
		return none, context.Cause(ctx)
	}
}

const (
	maxTrace = 4 << 10 // bytes of a traceback that is not a stack
	maxDepth = 16      // errors within each other that it shows
)

// Traceback says where an error came from: the stack of a panic; otherwise the error with those that
// it wraps, each with its type, the outermost first.
func Traceback(err error) string {
	if p, ok := errors.AsType[*Panic](err); ok {
		return p.Stack
	}
	var b strings.Builder
	var write func(err error, depth int)
	write = func(err error, depth int) {
		if err == nil || depth == maxDepth || b.Len() > maxTrace {
			return
		}
		text := err.Error()
		if len(text) > maxTrace/4 {
			text = strings.ToValidUTF8(text[:maxTrace/4], "") + "…"
		}
		fmt.Fprintf(&b, "%s%T: %s\n", strings.Repeat("  ", depth), err, strings.ReplaceAll(text, "\n", "; "))
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				write(e, depth+1)
			}
			return
		}
		write(errors.Unwrap(err), depth+1)
	}
	write(err, 0)
	return b.String()
}
