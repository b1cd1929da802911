package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

const (
	readyTimeout = 30 * time.Second
	pollInterval = 10 * time.Millisecond
	maxLog       = 16 << 20 // a larger log is put aside at the start
)

// spawn starts the service as a process of its own and waits until it answers.
func (o startOptions) spawn(cmd *cobra.Command) error {
	home, err := app.LocateHome()
	if err != nil {
		return err
	}
	if running, err := o.already(cmd, home); running || err != nil {
		return err
	}
	home, _, doc, err := o.prepare(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if running, err := o.settle(cmd, home, func() error { return checkListen(doc) }); running || err != nil {
		return err
	}
	log, start, err := openLog(home)
	if err != nil {
		return err
	}
	defer log.Close()
	child, err := o.command(log)
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return fmt.Errorf("starting the service: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- child.Wait() }()
	s, err := awaitReady(cmd.Context(), home, child.Process.Pid, exited)
	if errors.Is(err, errDied) {
		if running, err := o.settle(cmd, home, func() error { return nil }); running || err != nil {
			return err
		}
		return fmt.Errorf("the service ended while it started: %s", lastError(home.LogFile(), start))
	}
	if err != nil {
		return fmt.Errorf("%w; see %s", err, home.LogFile())
	}
	announce(cmd.OutOrStdout(), home, s)
	return nil
}

// command makes the command of the service's own process, in a session of its own.
func (o startOptions) command(log *os.File) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the program: %w", err)
	}
	c := exec.Command(self, append([]string{"web", "start", "--foreground"}, o.args()...)...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c, nil
}

// openLog opens the log for appending and returns where the new part starts.
func openLog(home settings.Home) (*os.File, int64, error) {
	if info, err := os.Stat(home.LogFile()); err == nil && info.Size() > maxLog {
		if err := os.Rename(home.LogFile(), home.LogFile()+".1"); err != nil {
			return nil, 0, fmt.Errorf("putting the old log aside: %w", err)
		}
	}
	log, err := os.OpenFile(home.LogFile(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the log: %w", err)
	}
	info, err := log.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("opening the log: %w", err), log.Close())
	}
	return log, info.Size(), nil
}

var errDied = errors.New("the service ended")

// awaitReady waits until the process answers on its control socket and over HTTP.
func awaitReady(ctx context.Context, home settings.Home, pid int, exited <-chan error) (cli.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	client := cli.NewClient(home)
	for {
		select {
		case <-exited: //nolint:errcheck // how it ended is told from its log
			return cli.Status{}, errDied
		case <-ctx.Done():
			return cli.Status{}, fmt.Errorf("the service, pid %d, does not answer yet", pid)
		case <-tick.C:
		}
		if s, err := client.Status(ctx); err == nil && s.PID == pid && answers(ctx, s.URL()) {
			return s, nil
		}
	}
}

// answers reports whether something answers GET /health at the base URL, whatever it says: a
// configuration of one's own may serve something else there.
func answers(ctx context.Context, base string) bool {
	if base == "" || strings.HasPrefix(base, "https:") {
		return true // the control socket has answered, and Caddy manages the certificates
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/health", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil
}

// lastError returns what the service has said last in its log from an offset on: its errors, or
// else the last line.
func lastError(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return err.Error()
	}
	var said []string
	last := "it said nothing; see " + path
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "Error: "); ok {
			said = append(said, text)
		} else if lines.Text() != "" {
			last = lines.Text()
		}
	}
	if len(said) > 0 {
		return strings.Join(said, "\n")
	}
	return last
}
