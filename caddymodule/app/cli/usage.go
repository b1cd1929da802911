package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svc-gateway/svc/internal/suggest"
)

// GroupAnnotation marks a command that does nothing but hold subcommands.
const GroupAnnotation = "svc.group"

// WrongUsage reports a mistake in the command line of cmd, which ends with [ExitUsage].
func WrongUsage(cmd *cobra.Command, err error) error {
	return finish(cmd, &CodedError{Code: ExitUsage, Err: explain(cmd, err)})
}

// explain says in the words of the other messages what is wrong with a flag.
func explain(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s: %q is not %s", e.GetFlag().Name, e.GetValue(), expected(e.GetFlag().Value.Type()))
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s: a value is missing", e.GetFlag().Name)
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && len(e.GetSpecifiedName()) > 1 {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		name := "--" + e.GetSpecifiedName()
		return fmt.Errorf("there is no flag %s%s", name, suggest.DidYouMean(name, known))
	}
	return err
}

// expected says what a flag of a type wants.
func expected(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "duration":
		return "a duration such as 500ms, 10s or 2h"
	default:
		return "of the type " + kind
	}
}

// usage is how the command is called.
func usage(cmd *cobra.Command) string {
	if cmd.Annotations[GroupAnnotation] != "" {
		return cmd.CommandPath() + " COMMAND"
	}
	return cmd.UseLine()
}

// Group prepares a command and, before or after they are added, its subcommands: unknown flags
// and subcommands and a wrong number of arguments are usage errors.
func Group(cmd *cobra.Command, subcommands ...*cobra.Command) {
	cmd.AddCommand(subcommands...)
	cmd.SetFlagErrorFunc(WrongUsage)
	if !cmd.HasSubCommands() || cmd.RunE != nil {
		return
	}
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[GroupAnnotation] = "true"
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = Run(func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("a subcommand is missing: use %s", strings.Join(names(c), ", "))
		}
		return Unknown(c, args[0])
	})
}

// Unknown is the usage error for a word that is no subcommand of cmd, with the one that was
// most likely meant.
func Unknown(cmd *cobra.Command, word string) error {
	what := "subcommand"
	if !cmd.HasParent() {
		what = "command"
	}
	known := names(cmd)
	for _, c := range cmd.Commands() { // a subcommand without its command
		if slices.Contains(names(c), word) {
			return Usagef("%s has no %s %q; did you mean %s %s?", cmd.CommandPath(), what, word, c.Name(), word)
		}
	}
	if n := suggest.Nearest(word, known); n != "" {
		return Usagef("%s has no %s %q; did you mean %s?", cmd.CommandPath(), what, word, n)
	}
	if !cmd.HasParent() { // there are too many to name
		return Usagef("%s has no command %q", cmd.CommandPath(), word)
	}
	return Usagef("%s has no %s %q: use %s", cmd.CommandPath(), what, word, strings.Join(known, ", "))
}

func names(cmd *cobra.Command) []string {
	var all []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			all = append(all, c.Name())
		}
	}
	return all
}

// maxArguments is more than a command takes, unless it takes any number.
const maxArguments = 10

// Args makes a check of the number of arguments that is a usage error when it fails.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		// What the check says of a number is for programmers.
		for n := len(args) - 1; n >= 0; n-- {
			if check(cmd, args[:n]) == nil {
				return WrongUsage(cmd, fmt.Errorf("unexpected argument %q", args[n]))
			}
		}
		for n := len(args) + 1; n < maxArguments; n++ {
			if check(cmd, make([]string, n)) == nil {
				return WrongUsage(cmd, fmt.Errorf("an argument is missing: %s", placeholders(cmd, len(args), n)))
			}
		}
		return WrongUsage(cmd, err)
	}
}

// placeholders are the names of the arguments from one number to another, as the usage has them.
func placeholders(cmd *cobra.Command, from, to int) string {
	words := strings.Fields(cmd.Use)[1:]
	if len(words) < to {
		return cmd.UseLine()
	}
	return strings.Join(words[from:to], " ")
}
