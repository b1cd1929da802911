package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

// execute runs the command that the arguments of root name and returns the program's exit code.
func execute(root *cobra.Command) int {
	markRuns(root)
	cmd, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	if coded, ok := errors.AsType[*cli.CodedError](err); ok {
		return coded.Code // it has been told
	}
	if _, ok := errors.AsType[*runError](err); !ok { // the command line was refused before anything ran
		_ = cli.WrongUsage(cmd, err)
		return cli.ExitUsage
	}
	if !cmd.SilenceErrors { // by who has told it already
		fmt.Fprintln(cmd.ErrOrStderr(), "Error:", err)
	}
	return cli.ExitError
}

// runError is what went wrong when a command ran: not in its command line.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }

func (e *runError) Unwrap() error { return e.err }

// markRuns tells errors of commands that ran from errors of the command line: cobra returns both.
func markRuns(cmd *cobra.Command) {
	for _, f := range []*func(*cobra.Command, []string) error{&cmd.PreRunE, &cmd.RunE} {
		if run := *f; run != nil {
			*f = func(cmd *cobra.Command, args []string) error {
				if err := run(cmd, args); err != nil {
					return &runError{err}
				}
				return nil
			}
		}
	}
	for _, c := range cmd.Commands() {
		markRuns(c)
	}
}
