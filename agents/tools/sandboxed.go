package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
)

// Sandbox runs programs that nobody trusts, as a [sandbox.Box] does.
type Sandbox interface {
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
}

// errNoSandbox is what a call gets that needs a sandbox where there is none.
var errNoSandbox = &sandbox.Unavailable{Reason: "this needs a sandbox, and there is none here"}

// sandboxShell runs a command line ($1) in a shell ($0) with both outputs in one, in their order.
const sandboxShell = `exec "$0" -c "$1" 2>&1`

// runInSandbox runs a command line in a sandbox, in the project root. With writable it may change the
// files there, and sees of the host only that and the programs; without, it sees the host's files and
// changes none.
func (w workspace) runInSandbox(ctx context.Context, box Sandbox, line string, writable bool) (agents.Result, error) {
	if err := legible(line); err != nil {
		return agents.Result{}, err
	}
	t, err := w.open()
	if err != nil {
		return agents.Result{}, err
	}
	defer func() { _ = t.Close() }()
	if err := t.outOfReach(); err != nil {
		return agents.Result{}, err
	}
	shell, err := findShell()
	if err != nil {
		return agents.Result{}, err
	}
	s := sandbox.Spec{
		Args: []string{shell, "-c", sandboxShell, shell, line}, Dir: t.real, Network: sandbox.NoNetwork,
		Binds:  []sandbox.Bind{{Source: t.real, Writable: writable}},
		Limits: sandbox.Limits{Output: commandLimits.keep},
	}
	if !writable {
		s.Binds = append(s.Binds, sandbox.Bind{Source: "/"})
	}
	r, err := box.Run(ctx, s)
	if sandbox.IsUnavailable(err) {
		return agents.Result{}, noSandbox(line, err)
	}
	if err != nil {
		return agents.Result{}, err
	}
	return commandResult(r)
}

// outOfReach refuses a root that is a denied folder: the sandbox shows the root whatever is hidden.
func (t *tree) outOfReach() error {
	for _, d := range t.sealed {
		if t.real == filepath.Clean(d) {
			return fmt.Errorf("the project root %s is the service's data folder; choose another for runtime.project_root", t.given)
		}
	}
	return nil
}

// commandResult makes text of how a command line went.
func commandResult(r sandbox.Result) (agents.Result, error) {
	res := agents.Result{Text: r.Stdout, Truncated: r.Truncated}
	if r.Truncated {
		res.Text = noted(res.Text, "cut: the first %d bytes are shown", len(r.Stdout))
	}
	switch {
	case r.TimedOut:
		return res, fmt.Errorf("the command was stopped when its time was over: %w", context.DeadlineExceeded)
	case r.OOM:
		res.Text = noted(res.Text, "a process was ended because the memory was used up")
	}
	switch {
	case r.Signal != "":
		res.Text = noted(res.Text, "killed by signal: %s", r.Signal)
	case r.Exit != 0:
		res.Text = noted(res.Text, "exit code %d", r.Exit)
	}
	if strings.TrimSpace(res.Text) == "" {
		res.Text = noted("", "no output")
	}
	return res, nil
}

// noSandbox says that a command line was not run, and what runs without a sandbox.
func noSandbox(line string, err error) error {
	if _, other := checkLine(line); other != nil {
		return fmt.Errorf("%w; without one, %w", err, other)
	}
	return err
}

// notApproved says that a command line was not run because nobody has approved it.
func notApproved(line string) error {
	if _, err := checkLine(line); err != nil {
		return fmt.Errorf("a person has to approve this command line before it runs on the host; without that, %w", err)
	}
	return errors.New("a person has to approve this command line before it runs on the host")
}
