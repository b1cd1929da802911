package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/settings"
)

// stopTimeout is the grace period of the default Caddyfile and a little more.
const stopTimeout = 15 * time.Second

func stopCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "stop", Short: "Stops the web service and returns when it is down", Args: cli.Args(cobra.NoArgs),
		Long: `Stops the web service. It accepts no new requests, and runs and streams have up to 10 seconds
to end. The command returns when the service is down. It is not an error if no service runs.`,
	}
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		home, err := app.LocateHome()
		if err != nil {
			return err
		}
		pid, err := findService(cmd.Context(), home)
		if err != nil {
			return err
		}
		if pid == 0 {
			fmt.Fprintln(cmd.OutOrStdout(), "The service is not running.")
			_, err := app.WhileFree(home, func() error { return removeStale(cmd.ErrOrStderr(), home) })
			return err
		}
		if err := terminate(cmd.Context(), home, pid); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "The service, pid %d, has stopped.\n", pid)
		return nil
	})
	cli.Group(cmd)
	return cmd
}

// findService returns the pid of the service, also of one that does not answer; 0 for none.
func findService(ctx context.Context, home settings.Home) (int, error) {
	s, err := cli.NewClient(home).Status(ctx)
	if err == nil {
		return s.PID, nil
	}
	if !errors.Is(err, cli.ErrNotRunning) {
		return 0, err
	}
	busy, err := app.Busy(home)
	if err != nil || !busy {
		return 0, err
	}
	pid, err := readPID(home)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // an admin command is at work
	}
	return pid, err
}

// terminate asks the process to end and waits until it has. It is never killed: its records
// might not be written.
func terminate(ctx context.Context, home settings.Home, pid int) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stopping the process %d: %w", pid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the service, pid %d, is still stopping after %s: what it does is in its log, %s or where its output goes", pid, stopTimeout, home.LogFile())
		case <-tick.C:
		}
	}
	return nil
}

// alive reports whether a process runs; one that has ended and waits for its parent does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	// pid (name) state …; the name may hold anything (proc(5)).
	after := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	return !strings.HasPrefix(after, " Z") && !strings.HasPrefix(after, " X")
}

func readPID(home settings.Home) (int, error) {
	text, err := os.ReadFile(home.PIDFile())
	if err != nil {
		return 0, fmt.Errorf("reading the pid file: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("reading the pid file: %s does not hold a process id", home.PIDFile())
	}
	return pid, nil
}
