package tools

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/plaintext"
)

// show does what cat, head and tail do, on the redacted text of files and without a
// program.
func (in invocation) show(ctx context.Context, t *tree) (agents.Result, error) {
	v := in.view()
	p := &page{room: commandLimits.keep}
	titled := v.titles || len(in.operands) > 1 && in.name != "cat" && !v.quiet
	for _, path := range in.operands {
		if titled {
			p.title(path)
		}
		if err := v.file(ctx, p, t, path); err != nil {
			return agents.Result{}, err
		}
	}
	r := agents.Result{Text: plaintext.Clean(plaintext.Whole(p.text)), Truncated: p.cut || p.late}
	switch {
	case p.late:
		r.Text = noted(r.Text, "cut: only the end is shown, %d bytes", len(p.text))
	case p.cut:
		r.Text = noted(r.Text, "cut: the first %d bytes are shown; read_file reads on from any line", len(p.text))
	case r.Text == "":
		r.Text = noted("", "no output")
	}
	return r, nil
}

// view is which part of each file is shown, and how.
type view struct {
	part  part
	count int64
	bytes bool // count is of bytes, otherwise of lines

	quiet, titles          bool // -q and -v of head and tail
	number, filled, squash bool // -n, -b and -s of cat
	line                   int  // number of the last line of cat -n
	within, empty          bool // a line has begun; the last one that began is empty
}

type part int

const (
	all   part = iota
	first      // count
	last       // count
	from       // the count-th on
)

// view reads the checked flags. The last one of a kind counts.
func (in invocation) view() *view {
	v := &view{}
	switch in.name {
	case "head":
		v.part, v.count = first, 10
	case "tail":
		v.part, v.count = last, 10
	}
	for i := 0; i < len(in.flags); i++ {
		name, value, joined := strings.Cut(in.flags[i], "=")
		if in.spec.flags[name] != nil && !joined {
			i++
			value = in.flags[i]
		}
		switch name {
		case "-q":
			v.quiet, v.titles = true, false
		case "-v":
			v.quiet, v.titles = false, true
		case "-b":
			v.number, v.filled = true, true
		case "-s":
			v.squash = true
		case "--number":
			v.number = true
		case "-n", "-c", "--lines", "--bytes":
			if in.name == "cat" {
				v.number = true
				continue
			}
			v.bytes = name == "-c" || name == "--bytes"
			v.count, _ = strconv.ParseInt(strings.TrimLeft(value, "+-"), 10, 64) // at most nine digits
			if in.name == "tail" {
				v.part = last
				if value[0] == '+' {
					v.part, v.count = from, max(v.count, 1)
				}
			}
		}
	}
	return v
}

// file shows one file on p.
func (v *view) file(ctx context.Context, p *page, t *tree, path string) error {
	f, info, err := t.openFile(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading
	if v.part == last && info.Size() > mostRead {
		return fmt.Errorf("%s has %d bytes: %w; head and read_file show its beginning", path, info.Size(), errTooLong)
	}
	if err := v.copy(p, newRedacted(ctx, f, mostRead)); err != nil && !errors.Is(err, errFull) {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
