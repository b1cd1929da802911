package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "sandbox", Short: "Runs programs as generated code is run, and tests how well that holds",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "sandbox"
			cli.Group(cmd, sandboxRunCommand(), sandboxSelftestCommand())
		},
	})
}

// The exit codes of sandbox run that are not the program's, as timeout(1) and shells have them.
const (
	exitTimedOut = 124
	exitNoStart  = 127
	exitSignal   = 128 // and the signal's number
)

// sandboxOptions are the flags that say how a sandbox is made.
type sandboxOptions struct {
	start startOptions
	netns bool
	json  bool
}

func (o *sandboxOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.start.config, "config", "", "Caddyfile, or Caddy's JSON in a file that ends in .json")
	cmd.Flags().StringArrayVar(&o.start.set, "set", nil, "a setting, as section.key=value; may be repeated")
	cmd.Flags().BoolVar(&o.netns, "netns", false, "no network at all, as with sandbox.netns 1")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON document")
}

// open opens the sandbox that the settings describe.
func (o *sandboxOptions) open(cmd *cobra.Command) (*sandbox.Box, error) {
	home, err := app.LocateHome()
	if err != nil {
		return nil, err
	}
	s, err := o.start.settings(cmd.ErrOrStderr(), home)
	if err != nil {
		return nil, err
	}
	c := sandbox.FromSettings(s, home)
	if o.netns {
		c.Network = sandbox.NoNetwork
	}
	return sandbox.Open(cmd.Context(), c)
}

func sandboxRunCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "run [flags] -- PROGRAM [ARGUMENT]…", Short: "Runs a program in the sandbox of generated code",
		Long: `Runs a program in the sandbox of generated code and prints what it has printed, when it has ended.

The exit code is the program's, 124 when its time was over, 127 when it could not be started, and
128 and the signal's number when a signal ended it.`,
		Example: `  service sandbox run -- python3 -c 'print(6*7)'
  service sandbox run --workspace data --ro-bind /srv/logs:/logs -- sh -c 'wc -l /logs/* >count'`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
	}
	cmd.Flags().SetInterspersed(false) // what follows the program is the program's
	var o sandboxOptions
	o.flags(cmd)
	workspace := cmd.Flags().String("workspace", "", "a folder whose files are put into the workspace, and that gets the files that are there at the end")
	binds := cmd.Flags().StringArray("ro-bind", nil, "a file or folder of the host to show, as SRC or SRC:DST; may be repeated")
	timeout := cmd.Flags().Duration("timeout", 0, "how long the program may run; runtime.timeout, which is also the most, when 0")
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		spec := sandbox.Spec{Args: args, Stdin: cmd.InOrStdin(), Timeout: *timeout}
		for _, b := range *binds {
			source, target, _ := strings.Cut(b, ":")
			spec.Binds = append(spec.Binds, sandbox.Bind{Source: source, Target: target})
		}
		return o.run(cmd, spec, *workspace)
	})
	cli.Group(cmd)
	return cmd
}

func (o *sandboxOptions) run(cmd *cobra.Command, spec sandbox.Spec, workspace string) error {
	box, err := o.open(cmd)
	if err != nil {
		return err
	}
	defer box.Close()
	if workspace != "" {
		spec.Collect = true
		if spec.Files, err = box.ReadFolder(workspace); err != nil {
			return err
		}
	}
	result, err := box.Run(cmd.Context(), spec)
	if c, ok := errors.AsType[*sandbox.CommandError](err); ok {
		return &cli.CodedError{Code: exitNoStart, Err: c}
	}
	if err != nil {
		return err
	}
	if workspace != "" {
		if err := sandbox.WriteFolder(workspace, result.Files); err != nil {
			return err
		}
	}
	if o.json {
		err = cli.JSON(cmd.OutOrStdout(), result)
	} else {
		err = printResult(cmd.OutOrStdout(), cmd.ErrOrStderr(), result)
	}
	if code := exitCode(result); err == nil && code != 0 {
		return cli.Exit(code)
	}
	return err
}

func printResult(stdout, stderr io.Writer, r sandbox.Result) error {
	_, err := io.WriteString(stdout, r.Stdout)
	if err == nil {
		_, err = io.WriteString(stderr, r.Stderr)
	}
	if err != nil {
		return fmt.Errorf("printing the output: %w", err)
	}
	for _, note := range []struct {
		when bool
		text string
	}{
		{r.Truncated, "the output was cut"},
		{r.TimedOut, "the time was over"},
		{r.OOM, "the memory was used up"},
		{len(r.Left) > 0, "not kept: " + strings.Join(r.Left, "; ")},
		{len(r.Degraded) > 0, "this host's sandbox lacks: " + strings.Join(r.Degraded, ", ")},
	} {
		if note.when {
			fmt.Fprintln(stderr, "Note:", note.text)
		}
	}
	return nil
}

func exitCode(r sandbox.Result) int {
	switch {
	case r.TimedOut:
		return exitTimedOut
	case r.Signal != "":
		if s := unix.SignalNum(r.Signal); s != 0 {
			return exitSignal + int(s)
		}
		return exitSignal + int(syscall.SIGKILL)
	}
	return r.Exit
}

// selftest is what sandbox selftest prints with --json.
type selftest struct {
	Available bool              `json:"available"`
	Mode      string            `json:"mode,omitempty"`
	Weaker    []string          `json:"weaker,omitempty"` // why not a stronger mode
	Degraded  []string          `json:"degraded"`
	StartMS   float64           `json:"start_ms,omitempty"` // from start to exit of true
	Attempts  []sandbox.Finding `json:"attempts"`
	Error     string            `json:"error,omitempty"`
}

func sandboxSelftestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "selftest", Short: "Tries to get out of the sandbox", Args: cli.Args(cobra.NoArgs),
		Long: `Tries to get out of the sandbox in many ways, as the service does at its start, and shows what this
host's sandbox lacks. The exit code is 1 if something got out, or if nothing can be run here.`,
	}
	var o sandboxOptions
	o.flags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, _ []string) error {
		t := selftest{Degraded: []string{}, Attempts: []sandbox.Finding{}}
		box, err := o.open(cmd)
		if err != nil && !sandbox.IsUnavailable(err) {
			return err
		}
		if err != nil {
			t.Error = err.Error()
		} else {
			defer box.Close()
			t.Available, t.Mode, t.Weaker, t.Attempts = true, box.Mode(), box.Weaker(), box.Findings()
			start := time.Now()
			r, err := box.Run(cmd.Context(), sandbox.Spec{Args: []string{"true"}})
			if err != nil {
				return err
			}
			t.Degraded, t.StartMS = r.Degraded, float64(time.Since(start).Microseconds())/1000
		}
		if o.json {
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(t)
		} else {
			err = t.print(cmd.OutOrStdout())
		}
		if err == nil && !t.Available {
			return cli.Exit(cli.ExitError)
		}
		return err
	})
	cli.Group(cmd)
	return cmd
}

func (t selftest) print(w io.Writer) error {
	if !t.Available {
		_, err := fmt.Fprintln(w, t.Error)
		return err
	}
	rows := make([][]string, len(t.Attempts))
	for i, a := range t.Attempts {
		rows[i] = []string{a.Attempt, "held"}
	}
	if err := cli.Table(w, []string{"attempt", "result"}, rows); err != nil {
		return err
	}
	lacks := "nothing"
	if len(t.Degraded) > 0 {
		lacks = strings.Join(t.Degraded, ", ")
	}
	_, err := fmt.Fprintf(w, "\nmode: %s\nlacks: %s\nstart to exit of true: %.1f ms\n", t.Mode, lacks, t.StartMS)
	for _, reason := range t.Weaker {
		fmt.Fprintln(w, "not stronger because of", reason)
	}
	return err
}
