package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/plaintext"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// RunCommand returns the tool run_command {command}. Its result is what the command printed and, when
// that is not 0, its exit code. Where a command line runs depends on what it is, see [commands.place].
// box is where the lines run that are not to touch the host; without one (nil) they are refused with
// [sandbox.Code]. Each call is classed by [command.Analyze].
func RunCommand(root string, box Sandbox, denied ...string) agents.Tool {
	c := commands{workspace{root: root, denied: denied}, box, command.Analyze}
	return agents.NewTool(agents.ToolDef{
		Name: "run_command",
		Description: "Run a command line and return what it prints. These commands look at the host and run at once, one at a time, without a shell " +
			"(no pipes, redirections, variables or patterns), with paths relative to the project root that cannot leave it: " + allowed() + ". " +
			"Other command lines run in a shell in the project root. One that only reads runs in a sandbox, which shows the host's files and lets none be changed. " +
			"One that changes files runs in a sandbox that shows the programs and the project root, where it may write. Neither has a network or sees the processes of the host. " +
			"A dangerous one, one that changes anything else of the host (services, interfaces, files elsewhere, packages), one that needs a network, or one whose effect cannot be told beforehand, waits until a person approves it and then runs on the host as it stands.",
		Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string","description":"The command line, for example: df -h"}},"required":["command"],"additionalProperties":false}`),
		Action:     policy.Mutate, // of a call that cannot be classed
		Classify:   c.classify,
	}, c.run)
}

// commands runs command lines.
type commands struct {
	workspace
	box     Sandbox // nil: none
	analyze func(line string) command.Command
}

// place is where a command line runs.
type place string

// The places. A person is asked before something runs onTheHost, by the rules of the policy.
const (
	direct  place = "" // one of the table, checked, with open files instead of paths
	reading place = "in the sandbox, where it can write nothing and has no network"
	writing place = "in the sandbox, where it can write in the project root only and has no network"
	host    place = "on the host, in a shell, in the project root"
)

// place says where a line runs that was analysed. A wrong analysis is not the last line of defence: a
// line gets what its class needs, and no more. One that changes something runs in the sandbox if it is
// certain that files of the project are all that it needs: what needs the host would fail there.
func (c commands) place(line string, a *command.Command) place {
	if a.Class != command.ReadOnly && a.Class != command.Mutate || len(a.Categories) > 0 {
		return host
	}
	if _, err := checkLine(line); err == nil && a.Class == command.ReadOnly {
		return direct
	}
	switch {
	case a.Class == command.ReadOnly:
		return reading
	case a.Confined:
		return writing
	}
	return host
}

func (c commands) classify(args map[string]any) agents.Classification {
	line, err := textArg(args, "command")
	if err != nil {
		return agents.Classification{Action: policy.Mutate}
	}
	a := c.analyze(line)
	class := agents.Classification{
		Action: policy.Mutate, Command: &a, Paths: c.paths(operands(line, &a)...), Targets: c.commandTargets(line, &a), Where: string(c.place(line, &a)),
	}
	if a.Class == command.ReadOnly {
		class.Action = policy.Use
	}
	return class
}

func (c commands) run(ctx context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
	if err := known(args, "command"); err != nil {
		return agents.Result{}, err
	}
	line, err := textArg(args, "command")
	if err != nil {
		return agents.Result{}, err
	}
	a := c.analyze(line)
	switch at := c.place(line, &a); {
	case at == direct:
		return c.runDirectly(ctx, line)
	case at == host && tc.Approved:
		return c.runOnHost(ctx, line)
	case at == host:
		return agents.Result{}, notApproved(line)
	case c.box == nil:
		return agents.Result{}, noSandbox(line, errNoSandbox)
	default:
		return c.runInSandbox(ctx, c.box, line, at == writing)
	}
}

// runDirectly runs a command of the table without a shell in root, with paths confined to root and
// outside the denied folders. What cat, head and tail show is cut from the redacted text of the file,
// see [ReadFile].
func (w workspace) runDirectly(ctx context.Context, line string) (agents.Result, error) {
	in, err := checkLine(line)
	if err != nil {
		return agents.Result{}, err
	}
	t, err := w.open()
	if err != nil {
		return agents.Result{}, err
	}
	defer func() { _ = t.Close() }()
	if in.paths == shown {
		return in.show(ctx, t)
	}
	program, err := lookUp(in.name)
	if err != nil {
		return agents.Result{}, err
	}
	b, err := in.bind(t)
	defer b.close()
	if err != nil {
		return agents.Result{}, err
	}
	out, err := execute(ctx, append([]string{program}, b.args...), surroundings{t.real, searchPath}, b.files, commandLimits)
	if err != nil {
		return agents.Result{}, err
	}
	return out.result(b.names), nil
}

// result makes text of an outcome.
func (o outcome) result(names *strings.Replacer) agents.Result {
	r := agents.Result{Text: names.Replace(plaintext.Clean(plaintext.Whole(o.output))), Truncated: o.printed > len(o.output)}
	switch {
	case o.stopped:
		r.Text = noted(r.Text, "stopped: it printed more than %d bytes; the first %d are shown", commandLimits.stop, len(o.output))
	case r.Truncated:
		r.Text = noted(r.Text, "cut: the first %d of %d bytes are shown", len(o.output), o.printed)
	}
	if o.status != "" && !o.stopped {
		r.Text = noted(r.Text, "%s", o.status)
	}
	if r.Text == "" {
		r.Text = noted("", "no output")
	}
	return r
}

// bound is an invocation whose paths have become open descriptors. The command is
// given the descriptors' names, so that no path is looked up a second time, when it
// could lead elsewhere.
type bound struct {
	args  []string
	files []*os.File
	names *strings.Replacer // turns the descriptors' names in the output, which holds no file's contents, into the caller's
}

func (b *bound) close() {
	for _, f := range b.files {
		_ = f.Close() // opened for reading
	}
}

func (in invocation) bind(t *tree) (bound, error) {
	b := bound{args: in.flags}
	var names, operands []string
	add := func(f *os.File, suffix, name string) {
		fd := fmt.Sprintf("/proc/self/fd/%d", 3+len(b.files))
		b.files = append(b.files, f)
		operands = append(operands, fd+suffix)
		if suffix != "" {
			fd += "/"
		}
		names = append(names, fd, name)
	}
	for _, path := range in.operands {
		use := in.paths
		if use == noPaths {
			operands = append(operands, path)
			continue
		}
		if use == counted {
			f, _, err := t.openFile(path)
			if err != nil {
				return b, err
			}
			add(f, "", path)
			continue
		}
		if use == listing {
			f, info, err := t.open(path)
			if err != nil {
				return b, err
			}
			if info.IsDir() {
				add(f, "/", strings.TrimSuffix(path, "/")+"/")
				continue
			}
			if err := f.Close(); err != nil {
				return b, fmt.Errorf("closing %s: %w", path, err)
			}
			b.args = append([]string{"-d"}, b.args...) // whatever the name leads to by then, it is not listed
		}
		f, base, err := t.parent(path, use == sizes)
		if err != nil {
			return b, err
		}
		dir, _ := filepath.Split(path)
		add(f, "/"+base, dir)
	}
	if in.paths == sizes && len(in.operands) == 0 {
		if err := t.clear(".", t.real); err != nil {
			return b, err
		}
	}
	b.args = append(b.args[:len(b.args):len(b.args)], operands...)
	b.names = strings.NewReplacer(names...)
	return b, nil
}
