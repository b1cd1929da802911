package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

const (
	// settleTime is how long a start waits for another process on the data folder to answer.
	settleTime = 5 * time.Second
	// retryTime is how long a port must be taken to be reported. Another start that looks
	// whether it is free has it for an instant; a service has the data folder before the port.
	retryTime = 250 * time.Millisecond
)

// already reports whether the service runs, and removes what a crash has left if it does not.
func (o startOptions) already(cmd *cobra.Command, home settings.Home) (bool, error) {
	s, err := cli.NewClient(home).Status(cmd.Context())
	if err == nil {
		return true, o.tell(cmd, home, s)
	}
	if !errors.Is(err, cli.ErrNotRunning) {
		return false, err
	}
	_, err = app.WhileFree(home, func() error { return removeStale(cmd.ErrOrStderr(), home) })
	return false, err
}

// tell says that the service runs. That is no error unless it was asked for something that may
// differ from what runs.
func (o startOptions) tell(cmd *cobra.Command, home settings.Home, s cli.Status) error {
	if args := o.args(); len(args) > 0 {
		return fmt.Errorf("the service is already running, pid %d: stop it with service web stop to start it with %s", s.PID, strings.Join(args, " "))
	}
	fmt.Fprintln(cmd.OutOrStdout(), "Nothing to do: the service was already running.")
	announce(cmd.OutOrStdout(), home, s)
	return nil
}

// settle asks the control socket for as long as another process works on the data folder, for
// it may be a service that is just starting, and reports whether one runs. If nobody works there,
// or not visibly within settleTime, what counts is the check.
func (o startOptions) settle(cmd *cobra.Command, home settings.Home, check func() error) (running bool, err error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), settleTime)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	client := cli.NewClient(home)
	for retry := time.Now().Add(retryTime); ; {
		if s, err := client.Status(ctx); err == nil && !s.Stopping {
			return true, o.tell(cmd, home, s)
		}
		busy, err := app.Busy(home)
		if err != nil {
			return false, err
		}
		if busy {
			retry = time.Now().Add(retryTime)
		} else if err := check(); !errors.Is(err, errTaken) || time.Now().After(retry) {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, cmd.Context().Err()
		case <-tick.C:
		}
	}
}

// removeStale removes the pid file that a crash has left.
func removeStale(w io.Writer, home settings.Home) error {
	pid, err := readPID(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	said := fmt.Sprintf("pid %d", pid)
	if err != nil {
		said = "it cannot be read"
	}
	if err := os.Remove(home.PIDFile()); err != nil {
		return fmt.Errorf("removing the stale pid file: %w", err)
	}
	fmt.Fprintf(w, "Removed the stale pid file %s (%s): the service did not end by itself last time.\n", home.PIDFile(), said)
	return nil
}
