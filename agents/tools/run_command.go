package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// RunCommand returns the tool run_command {command}: one command of a fixed
// allow-list, run without a shell in root, with paths confined to root and outside
// the denied folders. Its result is what the command printed and, when that is not
// 0, its exit code. What cat, head and tail show is cut from the redacted text of the
// file, see [ReadFile]. Each call is classed by [command.Analyze].
//
// What the analysis does not find to be harmless needs approval by the policy's rules; a line that was
// approved as it stands is run in a shell on the host.
func RunCommand(root string, denied ...string) agents.Tool {
	w := workspace{root: root, denied: denied}
	return agents.NewTool(agents.ToolDef{
		Name: "run_command",
		Description: "Run a command on this host and return what it prints. These commands look at the host and run at once, one at a time, without a shell " +
			"(no pipes, redirections, variables or patterns), with paths relative to the project root that cannot leave it: " + allowed() + ". " +
			"A dangerous command line, or one whose effect cannot be told beforehand, waits until a person approves it and then runs as it stands in a shell in the project root. " +
			"What merely changes files is refused.",
		Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string","description":"The command line, for example: df -h"}},"required":["command"],"additionalProperties":false}`),
		Action:     policy.Mutate, // of a call that cannot be classed
		Classify:   w.classifyCommand,
	}, w.runCommand)
}

func (w workspace) classifyCommand(args map[string]any) agents.Classification {
	line, err := textArg(args, "command")
	if err != nil {
		return agents.Classification{Action: policy.Mutate}
	}
	c := command.Analyze(line)
	paths := w.paths(operands(line, &c)...)
	targets := w.commandTargets(line, &c)
	if c.Class == command.ReadOnly {
		return agents.Classification{Action: policy.Use, Command: &c, Paths: paths, Targets: targets}
	}
	return agents.Classification{Action: policy.Mutate, Command: &c, Paths: paths, Targets: targets, Where: onTheHost}
}

func (w workspace) runCommand(ctx context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
	if err := known(args, "command"); err != nil {
		return agents.Result{}, err
	}
	line, err := textArg(args, "command")
	if err != nil {
		return agents.Result{}, err
	}
	if tc.Approved && command.Analyze(line).Class != command.ReadOnly {
		return w.runOnHost(ctx, line)
	}
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
	out, err := execute(ctx, append([]string{program}, b.args...), place{t.real, searchPath}, b.files, commandLimits)
	if err != nil {
		return agents.Result{}, err
	}
	return out.result(b.names), nil
}

// result makes text of an outcome.
func (o outcome) result(names *strings.Replacer) agents.Result {
	r := agents.Result{Text: names.Replace(clean(whole(o.output))), Truncated: o.printed > len(o.output)}
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
