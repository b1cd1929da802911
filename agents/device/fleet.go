package device

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/svc-gateway/svc/agents/inventory"
	"github.com/svc-gateway/svc/internal/plaintext"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Config says how devices are reached. The zero value of a field is its default, Keys excepted.
type Config struct {
	Logins []Login // the first that is for a device is used
	Keys   *Keys   // pinned host keys
	// Timeout is how long one device may take, from the connection to the last prompt. Default: 30s.
	Timeout time.Duration
	// Parallel is how many devices are talked to at once. Default: 50.
	Parallel int
	// Output is how much of what a device says is read, in bytes. Default: 256 KiB.
	Output int
	// Legacy allows algorithms of SSH that are broken, for devices that know no others.
	Legacy bool
	// Redact takes secrets out of the text of configurations that are compared. Default: redact.Text.
	Redact func(string) string
}

// Fleet talks to devices. Make it with [New].
type Fleet struct{ c Config }

// New returns a fleet.
func New(c Config) *Fleet {
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Parallel == 0 {
		c.Parallel = 50
	}
	if c.Output == 0 {
		c.Output = 256 << 10
	}
	if c.Redact == nil {
		c.Redact = redact.Text
	}
	return &Fleet{c}
}

// Outcome is what became of a command on one device.
type Outcome struct {
	Device    inventory.Device
	Output    string // plain text, its secrets redacted
	Truncated bool   // there was more
	Err       error  // nil: the device took the command and waits for the next one
	Took      time.Duration
}

// ErrRefused says that a device does not take a command. What it says stands in the output.
var ErrRefused = errors.New("the device does not take the command")

// errNoTurn is for devices whose turn does not come before the end.
var errNoTurn = errors.New("its turn did not come in time: ask fewer devices, or raise runtime.timeout")

// margin is how long before the end of a call no device is waited for any more, so that those that have
// answered can be told of.
const margin = time.Second

// Command runs a command on devices, Parallel of them at a time, and returns the outcomes in the order of
// the devices. It returns before the deadline of ctx, with what there is.
func (f *Fleet) Command(ctx context.Context, devices []inventory.Device, line string, answers []string) []Outcome {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-min(margin, time.Until(end)/10)))
		defer cancel()
	}
	all := make([]Outcome, len(devices))
	turns := make(chan struct{}, f.c.Parallel)
	var done sync.WaitGroup
	for i, d := range devices {
		all[i].Device = d
		select {
		case turns <- struct{}{}:
		case <-ctx.Done():
			all[i].Err = errNoTurn
			continue
		}
		done.Go(func() {
			defer func() { <-turns }()
			begun := time.Now()
			text, err := f.one(ctx, d, line, answers)
			all[i].Output, all[i].Truncated = f.readable(text, errors.Is(err, errFlood))
			all[i].Err, all[i].Took = err, time.Since(begun)
		})
	}
	done.Wait()
	return all
}

// one runs a command on one device.
func (f *Fleet) one(ctx context.Context, d inventory.Device, line string, answers []string) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.c.Timeout)
	defer cancel()
	if d.Platform == inventory.Linux {
		return f.host(ctx, d, line)
	}
	t, login, end, err := f.session(ctx, d)
	if err != nil {
		return "", err
	}
	defer end()
	if login.Enable != "" {
		if err := t.privileged(ctx, login); err != nil {
			return "", err
		}
	}
	text, err = t.command(ctx, line, answers)
	if err == nil && complaint.MatchString(text) {
		err = ErrRefused
	}
	return text, err
}

// session opens a session on a device. end closes it.
func (f *Fleet) session(ctx context.Context, d inventory.Device) (t *session, l Login, end func(), err error) {
	p, ok := platforms[d.Platform]
	if !ok {
		return nil, l, nil, fmt.Errorf("its platform %q is none that commands can be run on: %s", d.Platform, strings.Join(inventory.Platforms(), ", "))
	}
	client, l, err := f.dial(ctx, d)
	if err != nil {
		return nil, l, nil, err
	}
	if t, err = open(ctx, client, p, f.c.Output); err != nil {
		_ = client.Close()
		return nil, l, nil, err
	}
	return t, l, func() { _ = client.Close() }, nil
}

// host runs a command line on a host with a shell.
func (f *Fleet) host(ctx context.Context, d inventory.Device, line string) (string, error) {
	client, _, err := f.dial(ctx, d)
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }()
	s, err := client.NewSession()
	if err != nil {
		return "", closed(ctx)
	}
	out := &limited{most: f.c.Output, full: make(chan struct{})}
	s.Stdout, s.Stderr = out, out
	if err := s.Start(line); err != nil {
		return "", errors.New("it does not run commands")
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }() // ends when the client is closed
	var exit *ssh.ExitError
	select {
	case <-ctx.Done():
		return out.text(), errSlow
	case <-out.full:
		return out.text(), errFlood
	case err = <-ended:
	}
	switch {
	case errors.As(err, &exit):
		return out.text(), fmt.Errorf("the command ended with %d", exit.ExitStatus())
	case ctx.Err() != nil:
		return out.text(), errSlow
	case err != nil:
		return out.text(), errClosed
	}
	return out.text(), nil
}

// readable takes the secrets out of what a device said. What was cut ends with a whole line, as half of a
// secret is not found to be one.
func (f *Fleet) readable(text string, cut bool) (string, bool) {
	if cut {
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	return f.c.Redact(string(plaintext.Whole([]byte(text)))), cut
}

// limited keeps the first bytes of what is written to it.
type limited struct {
	mu   sync.Mutex
	kept []byte
	most int
	over bool
	full chan struct{} // closed when there is more
}

func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept)+len(p) > l.most {
		if !l.over {
			l.over = true
			l.kept = append(l.kept, p[:l.most-len(l.kept)]...)
			close(l.full)
		}
		return 0, errFlood
	}
	l.kept = append(l.kept, p...)
	return len(p), nil
}

func (l *limited) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return plain(l.kept)
}
