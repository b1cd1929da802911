package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/plaintext"
	"github.com/svc-gateway/svc/policy"
)

const (
	readBytes = 64 << 10 // most bytes of one result
	readLines = 2000     // most lines of one result
)

// ReadFile returns the tool read_file {path, offset, limit}: lines of a text file
// inside root and outside the denied folders. offset is the first line (from 1),
// limit the number of lines (2000 unless given, and at most); a result holds at most
// 64 KiB and says how to go on. Secrets are redacted before the lines are counted and
// cut, so that no choice of lines shows one. A binary file is described instead.
func ReadFile(root string, denied ...string) agents.Tool {
	w := workspace{root: root, denied: denied}
	return agents.NewTool(agents.ToolDef{
		Name:        "read_file",
		Description: "Read a text file inside the project root. Long files are read in parts: offset is the first line, limit the number of lines.",
		Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the project root"},` +
			`"offset":{"type":"integer","minimum":1,"description":"First line, default 1"},"limit":{"type":"integer","minimum":1,"maximum":2000,"description":"Number of lines, default 2000"}},"required":["path"],"additionalProperties":false}`),
		Action: policy.Use,
		Classify: func(args map[string]any) agents.Classification {
			c := agents.Classification{Action: policy.Use}
			if path, err := textArg(args, "path"); err == nil {
				c.Paths = w.paths(path)
				c.Targets = w.pathTargets("path", c.Paths)
			}
			return c
		},
	}, w.readFile)
}

func (w workspace) readFile(ctx context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
	err := known(args, "path", "offset", "limit")
	path, err1 := textArg(args, "path")
	offset, err2 := numberArg(args, "offset", 1, 1<<30)
	limit, err3 := numberArg(args, "limit", readLines, readLines)
	if err := errors.Join(err, err1, err2, err3); err != nil {
		return agents.Result{}, err
	}
	t, err := w.open()
	if err != nil {
		return agents.Result{}, err
	}
	defer func() { _ = t.Close() }()
	f, info, err := t.openFile(path)
	if err != nil {
		return agents.Result{}, err
	}
	defer func() { _ = f.Close() }()
	return showLines(ctx, path, f, info.Size(), offset, limit)
}

// showLines returns lines of a text, without secrets. name and size are those of its file.
func showLines(ctx context.Context, name string, f io.Reader, size int64, offset, limit int) (agents.Result, error) {
	r := bufio.NewReaderSize(newRedacted(ctx, f, mostRead), readBytes)
	head, err := r.Peek(8 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return agents.Result{}, fmt.Errorf("reading %s: %w", name, err)
	}
	if binary(head) {
		return agents.Result{Text: fmt.Sprintf("%s is a binary file of %d bytes (%s); its contents are not shown.\n", name, size, http.DetectContentType(head)), Truncated: true}, nil
	}
	text, next, cut, err := lines(r, offset, limit)
	if err != nil {
		return agents.Result{}, fmt.Errorf("reading %s: %w", name, err)
	}
	result := agents.Result{Text: plaintext.Clean(plaintext.Whole(text)), Truncated: next > 0 || cut}
	switch {
	case len(head) == 0:
		result.Text = fmt.Sprintf("[%s is empty]\n", name)
	case len(text) == 0:
		return agents.Result{}, fmt.Errorf("%s has fewer than %d lines", name, offset)
	case cut:
		result.Text += fmt.Sprintf("\n[cut: line %d is longer than %d bytes]\n", offset, readBytes)
	case next > 0:
		result.Text += fmt.Sprintf("[more follows: go on with offset %d; the file has %d bytes]\n", next, size)
	}
	return result, nil
}

// lines returns whole lines from the offset-th on, within the limits. next is the
// line to go on with, 0 at the end of the file. cut says that the first line alone
// was too long.
func lines(r *bufio.Reader, offset, limit int) (text []byte, next int, cut bool, err error) {
	var line []byte // of the current line, what fits
	for n := 1; ; {
		part, err := r.ReadSlice('\n')
		if n >= offset && len(line) <= readBytes {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue // the same line goes on
		case err != nil && !errors.Is(err, io.EOF):
			return nil, 0, false, err
		}
		if n >= offset && len(line) > 0 {
			switch {
			case len(line) > readBytes && len(text) == 0:
				return line[:readBytes], 0, true, nil
			case len(text)+len(line) > readBytes || n >= offset+limit:
				return text, n, false, nil
			}
			text = append(text, line...)
			line = line[:0]
		}
		if err != nil {
			return text, 0, false, nil
		}
		n++
	}
}

// binary reports whether a file begins as no text does: with a NUL byte, or with
// more than a tenth of its bytes not UTF-8.
func binary(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	bad := 0
	for b := plaintext.Whole(head); len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			bad++
		}
		b = b[n:]
	}
	return bad > len(head)/10
}
