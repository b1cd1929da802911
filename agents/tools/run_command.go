package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
)

// RunCommand returns the tool run_command {command}: one command of a fixed
// allow-list, run without a shell in root, with paths confined to root and outside
// the denied folders. Its result is what the command printed and, when that is not
// 0, its exit code. Each call is classed by [scanner.AnalyzeCommand].
func RunCommand(root string, denied ...string) agents.Tool {
	w := workspace{root: root, denied: denied}
	return agents.NewTool(agents.ToolDef{
		Name: "run_command",
		Description: "Run one command that looks at this host and return what it prints. No shell: no pipes, redirections, variables or patterns. " +
			"Allowed commands: " + allowed() + ". Paths are relative to the project root and cannot leave it.",
		Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string","description":"One simple command, for example: df -h"}},"required":["command"],"additionalProperties":false}`),
		Action:     policy.Mutate, // of a call that cannot be classed
		Classify: func(args map[string]any) *scanner.Command {
			line, err := textArg(args, "command")
			if err != nil {
				return nil
			}
			c := scanner.AnalyzeCommand(line)
			return &c
		},
	}, w.runCommand)
}

func (w workspace) runCommand(ctx context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
	if err := known(args, "command"); err != nil {
		return agents.Result{}, err
	}
	line, err := textArg(args, "command")
	if err != nil {
		return agents.Result{}, err
	}
	in, err := checkLine(line)
	if err != nil {
		return agents.Result{}, err
	}
	program, err := lookUp(in.name)
	if err != nil {
		return agents.Result{}, err
	}
	t, err := w.open()
	if err != nil {
		return agents.Result{}, err
	}
	defer func() { _ = t.Close() }()
	b, err := in.bind(t)
	defer b.close()
	if err != nil {
		return agents.Result{}, err
	}
	out, err := execute(ctx, append([]string{program}, b.args...), t.real, b.files, commandLimits)
	if err != nil {
		return agents.Result{}, err
	}
	return out.result(b.names), nil
}

// result makes text of an outcome.
func (o outcome) result(names *strings.Replacer) agents.Result {
	r := agents.Result{Text: names.Replace(clean(whole(o.output))), Truncated: o.printed > len(o.output)}
	note := func(format string, args ...any) {
		if r.Text != "" && !strings.HasSuffix(r.Text, "\n") {
			r.Text += "\n"
		}
		r.Text += "[" + fmt.Sprintf(format, args...) + "]\n"
	}
	switch {
	case o.stopped:
		note("stopped: it printed more than %d bytes; the first %d are shown", commandLimits.stop, len(o.output))
	case r.Truncated:
		note("cut: the first %d of %d bytes are shown", len(o.output), o.printed)
	}
	if o.status != "" && !o.stopped {
		note("%s", o.status)
	}
	if r.Text == "" {
		note("no output")
	}
	return r
}

// bound is an invocation whose paths have become open descriptors. The command is
// given the descriptors' names, so that no path is looked up a second time, when it
// could lead elsewhere.
type bound struct {
	args  []string
	files []*os.File
	names *strings.Replacer // turns the descriptors' names in the output into the caller's
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
		if use == contents || use == listing {
			f, info, err := t.open(path)
			if err != nil {
				return b, err
			}
			switch {
			case use == contents && info.IsDir():
				return b, errors.Join(fmt.Errorf("%s is a folder; ls lists it", path), f.Close())
			case use == contents:
				add(f, "", path)
				continue
			case info.IsDir():
				add(f, "/", strings.TrimSuffix(path, "/")+"/")
				continue
			}
			if err := f.Close(); err != nil {
				return b, fmt.Errorf("closing %s: %w", path, err)
			}
			b.args = append([]string{"-d"}, b.args...) // whatever the name leads to by then, it is not listed
		}
		if use == sizes {
			if err := t.clear(path); err != nil {
				return b, err
			}
		}
		f, base, err := t.parent(path)
		if err != nil {
			return b, err
		}
		dir, _ := filepath.Split(path)
		add(f, "/"+base, dir)
	}
	if in.paths == sizes && len(in.operands) == 0 {
		if err := t.clear("."); err != nil {
			return b, err
		}
	}
	b.args = append(b.args[:len(b.args):len(b.args)], operands...)
	b.names = strings.NewReplacer(names...)
	return b, nil
}
