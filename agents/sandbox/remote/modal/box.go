package modal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	sdk "github.com/modal-labs/modal-client/go"
)

// box is one sandbox.
type box struct {
	p *Provider
	s *sdk.Sandbox
}

func (b *box) ID() string { return b.s.SandboxID }

// Ready implements [remote.Sandbox]. The first command waits until the sandbox runs.
func (b *box) Ready(context.Context) (bool, error) { return true, nil }

// Put implements [remote.Sandbox].
func (b *box) Put(ctx context.Context, name string, content func(io.Writer) error) error {
	const what = "sending files"
	cp, err := b.s.Exec(ctx, []string{"sh", "-c", "exec cat >" + name}, params(ctx, sdk.Ignore))
	if err != nil {
		return b.p.fail(what, err)
	}
	// The SDK's writer knows no context. A write that hangs ends with the sandbox, which is deleted then.
	sent := make(chan error, 1)
	go func() { sent <- send(ctx, cp.Stdin, content) }()
	select {
	case err = <-sent:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return b.p.fail(what, err)
	}
	exit, err := cp.Wait(ctx, nil)
	if err == nil && exit != 0 {
		err = fmt.Errorf("writing them ended with %d", exit)
	}
	if err != nil {
		return b.p.fail(what, err)
	}
	return nil
}

// chunk is how much is sent in one call of the API.
const chunk = 256 << 10

// send writes content to the input of a command, in large pieces, until the context ends.
func send(ctx context.Context, w io.WriteCloser, content func(io.Writer) error) error {
	buffered := bufio.NewWriterSize(writerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return w.Write(b)
	}), chunk)
	return errors.Join(content(buffered), buffered.Flush(), w.Close())
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// Exec implements [remote.Sandbox].
func (b *box) Exec(ctx context.Context, line string) (int, error) {
	cp, err := b.s.Exec(ctx, []string{"sh", "-c", line}, params(ctx, sdk.Ignore))
	if err != nil {
		return 0, b.p.fail("running a program", err)
	}
	exit, err := cp.Wait(ctx, nil)
	if err != nil {
		return 0, b.p.fail("running a program", err)
	}
	return exit, nil
}

// Get implements [remote.Sandbox].
func (b *box) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	const what = "fetching files"
	cp, err := b.s.Exec(ctx, []string{"sh", "-c", "exec head -c " + strconv.FormatInt(limit+1, 10) + " " + name}, params(ctx, sdk.Pipe))
	if err != nil {
		return nil, b.p.fail(what, err)
	}
	defer func() { _ = cp.Stdout.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = cp.Stdout.Close() })
	defer stop()
	content, err := io.ReadAll(io.LimitReader(cp.Stdout, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("the file has more than %d bytes", limit)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, b.p.fail(what, err)
	}
	return content, nil
}

// params are those of a command. The sandbox ends it when its time is over, should nobody be left here.
func params(ctx context.Context, stdout sdk.StdioBehavior) *sdk.SandboxExecParams {
	p := &sdk.SandboxExecParams{Stdout: stdout, Stderr: sdk.Ignore}
	if until, ok := ctx.Deadline(); ok {
		p.Timeout = max(time.Second, time.Duration(math.Ceil(time.Until(until).Seconds()))*time.Second)
	}
	return p
}
