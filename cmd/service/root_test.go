package main

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

// allCommands returns the words that call each command of the program, and the commands.
func allCommands(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	all := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		all[strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "service"))] = c
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	if len(all) < 40 {
		t.Fatalf("got %d commands", len(all))
	}
	return all
}

var errRan = errors.New("the command ran")

// run executes a command line with commands that do nothing, except for those that only hold
// others, and returns the exit code; ran reports whether the command was let run.
func run(t *testing.T, args ...string) (code int, stdout, stderr string, ran bool) {
	t.Helper()
	root := newRoot()
	var idle func(*cobra.Command)
	idle = func(c *cobra.Command) {
		if c.RunE != nil && c.Annotations[cli.GroupAnnotation] == "" && c.Name() != "help" {
			c.RunE = func(*cobra.Command, []string) error { ran = true; return errRan }
		}
		for _, sub := range c.Commands() {
			idle(sub)
		}
	}
	idle(root)
	var out, told bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&told)
	root.SetIn(strings.NewReader(""))
	root.SetArgs(args)
	code = execute(root)
	return code, out.String(), told.String(), ran
}

// wrong makes sure that a command line is refused as wrong usage, and says so once.
func wrong(t *testing.T, args ...string) {
	t.Helper()
	code, stdout, stderr, ran := run(t, args...)
	if code != cli.ExitUsage || ran || stdout != "" || strings.Count(stderr, "Error: ") != 1 || !strings.Contains(stderr, "\nUsage: service") {
		t.Errorf("service %s: got exit code %d, ran %v, stdout %q, stderr %q", strings.Join(args, " "), code, ran, stdout, stderr)
	}
}

// Every command of the program refuses what it does not know, Caddy's own too.
func TestWrongUsage(t *testing.T) {
	for path, c := range allCommands(t) {
		if caddyCommands[c.Name()].refused != "" || c.Name() == cobra.ShellCompRequestCmd || c.Name() == cobra.ShellCompNoDescRequestCmd {
			continue
		}
		words := strings.Fields(path)
		with := func(more ...string) []string { return append(slices.Clone(words), more...) }
		wrong(t, with("--no-such-flag")...)
		wrong(t, with("-Z")...)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "bool":
				wrong(t, with("--"+f.Name+"=perhaps")...)
			case "int":
				wrong(t, with("--"+f.Name, "many")...)
			}
			if f.NoOptDefVal == "" {
				wrong(t, with("--"+f.Name)...)
			}
		})
		switch {
		case c.HasSubCommands() && c.Annotations[cli.GroupAnnotation] != "":
			wrong(t, with("no-such-command")...)
			if path != "" {
				wrong(t, words...)
			}
		case c.Name() == "help":
			wrong(t, with("no-such-command")...)
		case c.Name() != "chat" && !strings.Contains(c.Use, "…"): // which take any number of words
			wrong(t, with("a", "b", "c", "d")...)
		}
		if n := arguments(c); n > 0 {
			wrong(t, with(slices.Repeat([]string{"a"}, n-1)...)...)
		}
	}
}

// arguments returns how many arguments a command must have: those that its usage names without
// brackets.
func arguments(c *cobra.Command) (n int) {
	for _, word := range strings.Fields(c.Use)[1:] {
		if !regexp.MustCompile(`^[A-Z]+(\|[A-Z]+)*$`).MatchString(word) {
			break
		}
		n++
	}
	return n
}

func TestFlagsThatMustBeGiven(t *testing.T) {
	for _, line := range []string{
		"storage export", "storage import", "reverse-proxy", "hash-password --algorithm md5", "adapt --adapter nginx",
		"validate --adapter nginx", "reload --adapter nginx", "run --adapter nginx", "scan code --lang cobol",
	} {
		wrong(t, strings.Fields(line)...)
	}
}

func TestDidYouMean(t *testing.T) {
	for line, want := range map[string]string{
		"admni":              `service has no command "admni"; did you mean admin?`,
		"admin add-usr":      `service admin has no subcommand "add-usr"; did you mean add-user?`,
		"web satrt":          `service web has no subcommand "satrt"; did you mean start?`,
		"valdate":            `did you mean validate?`,
		"storage exprot":     `service storage has no subcommand "exprot"; did you mean export?`,
		"add-user alice":     `service has no command "add-user"; did you mean admin add-user?`,
		"completion bsh":     `did you mean bash?`,
		"help wbe":           `did you mean web?`,
		"help web satrt":     `did you mean start?`,
		"configuration":      `service has no command "configuration"`,
		"web start --prot 1": `there is no flag --prot; did you mean --port?`,
		"run --confg x":      `there is no flag --confg; did you mean --config?`,
	} {
		code, _, stderr, _ := run(t, strings.Fields(line)...)
		if code != cli.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("service %s: got exit code %d, stderr %q, want %q", line, code, stderr, want)
		}
	}
}

// No help tells people to call caddy, or offers to replace the program.
func TestHelp(t *testing.T) {
	for path, c := range allCommands(t) {
		words := strings.Fields(path)
		code, help, stderr, _ := run(t, append([]string{"help"}, words...)...)
		if code != 0 || stderr != "" || !strings.Contains(help, "Usage:\n  service") {
			t.Errorf("service help %s: got exit code %d, %q, stderr %q", path, code, help, stderr)
		}
		if bad := regexp.MustCompile(`\bcaddy [a-z-]+`).FindString(help); bad != "" {
			t.Errorf("service help %s: says %q", path, bad)
		}
		if c.Hidden {
			continue
		}
		if code, same, _, _ := run(t, append(words, "--help")...); code != 0 || same != help {
			t.Errorf("service %s --help: got exit code %d, %q, want %q", path, code, same, help)
		}
		if isCaddys := strings.Contains(help, caddyFooter); isCaddys != inCaddy(c) {
			t.Errorf("service help %s: sends readers to Caddy's documentation: %v", path, isCaddys)
		}
	}
	_, help, _, _ := run(t)
	for _, name := range []string{"upgrade", "add-package", "remove-package", "$ "} {
		if strings.Contains(help, name) {
			t.Errorf("the help has %q", name)
		}
	}
}

func inCaddy(c *cobra.Command) bool {
	for ; c.HasParent(); c = c.Parent() {
		if _, ok := caddyCommands[c.Name()]; ok && !c.Parent().HasParent() {
			return true
		}
	}
	return false
}

func TestRefusedCommands(t *testing.T) {
	for _, line := range []string{"upgrade", "upgrade --keep-backup", "add-package x", "remove-package x", "upgrade --help"} {
		root := newRoot()
		var stderr bytes.Buffer
		root.SetErr(&stderr)
		root.SetArgs(strings.Fields(line))
		if code := execute(root); code != cli.ExitError || !strings.Contains(stderr.String(), "does not work here: it would replace this program") {
			t.Errorf("service %s: got exit code %d, stderr %q", line, code, stderr.String())
		}
	}
}

// An error of a command that runs is no wrong usage.
func TestErrorOfACommand(t *testing.T) {
	code, _, stderr, ran := run(t, "version")
	if code != cli.ExitError || !ran || stderr != "Error: the command ran\n" {
		t.Errorf("got exit code %d, ran %v, stderr %q", code, ran, stderr)
	}
}
