// Package cli is what our subcommands have in common: exit codes and where errors go, output
// for people or as JSON, the name of the program, and the clients of the control socket and of the API.
//
// A command is a cobra command whose RunE is made with [Run]:
//
//	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error { … })
//
// It prints errors to stderr and ends with 1, or with the code of an [ExitError]; wrong usage
// ends with [ExitUsage]. Nothing here is shared between goroutines but [Client] and [Target], which are
// safe for concurrent use.
package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// The exit codes of our commands.
const (
	ExitError      = 1   // something went wrong
	ExitUsage      = 2   // the command line makes no sense
	ExitDenied     = 3   // chat: a call was denied or rejected
	ExitNotRunning = 3   // web status: the service does not run
	ExitFound      = 3   // scan --exit-code: something was found
	ExitCancelled  = 130 // interrupted with Ctrl-C
	ExitTerminated = 143 // chat: ended with SIGTERM
)

// CodedError is an error with an exit code of its own. One without an Err ends the program
// without a message.
type CodedError struct {
	Code int
	Err  error
}

// Error returns the text of Err, if any.
func (e *CodedError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *CodedError) Unwrap() error { return e.Err }

// Exit ends the program with the code and no message.
func Exit(code int) error { return &CodedError{Code: code} }

// Usagef is an error of the command line.
func Usagef(format string, args ...any) error {
	return &CodedError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// Run makes a RunE from a command's body.
func Run(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return finish(cmd, body(cmd, args))
	}
}

// finish reports err and turns its code into one that Caddy's main ends with, and ours.
func finish(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	coded, isCoded := errors.AsType[*CodedError](err)
	if !isCoded || coded.Err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(cmd.ErrOrStderr(), "Error:", line)
		}
	}
	if isCoded && coded.Code == ExitUsage {
		fmt.Fprintf(cmd.ErrOrStderr(), "Usage: %s\nSee %s --help.\n", usage(cmd), cmd.CommandPath())
	}
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if !isCoded || coded.Code == ExitError {
		return err
	}
	// Caddy's type of error with an exit code can only be had from this wrapper.
	code := func(caddycmd.Flags) (int, error) { return coded.Code, nil }
	return &reported{coded, caddycmd.WrapCommandFuncForCobra(code)(cmd, nil)}
}

// reported is an error that has been told, with its code as we and as Caddy know it.
type reported struct {
	coded *CodedError
	caddy error
}

func (r *reported) Error() string { return r.coded.Error() }

func (r *reported) Unwrap() []error { return []error{r.coded, r.caddy} }

// JSON prints v for programs: one indented document.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Table prints rows in columns under their headings.
func Table(w io.Writer, columns []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.ToUpper(strings.Join(columns, "\t")))
	for _, r := range rows {
		for i := range r {
			r[i] = clean(r[i])
		}
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}

// clean keeps a value in its cell and control characters off the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}
