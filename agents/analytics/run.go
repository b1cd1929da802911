package analytics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Process is a helper process that asks: what it runs, where, what it may read.
type Process struct {
	Path   string // the program
	Args   []string
	Folder string // working directory
	Reads  string // the only file that it has to read
	Stdin  []byte
	Output int   // bytes of standard output that are read; more is an error
	Memory int64 // bytes that the database in it may take

	Threads int // that the database in it may use
}

// Runner runs a process to its end, or kills it when ctx ends. It returns what the process wrote to
// its standard output, also with an error.
type Runner func(ctx context.Context, p Process) ([]byte, error)

// afterKill is how long the pipes of a killed process may stay open.
const afterKill = time.Second

// RunHere is a Runner without a container around the process: svc-duck confines itself. The process
// has an empty environment and a group of its own, and dies with this one.
func RunHere(ctx context.Context, p Process) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.Folder, []string{}, bytes.NewReader(p.Stdin)
	cmd.SysProcAttr, cmd.WaitDelay = dependent(), afterKill
	out := &bounded{left: p.Output}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("running %s: %w", p.Path, err)
	}
	return out.Bytes(), nil
}

// bounded is a buffer that refuses what goes beyond its size.
type bounded struct {
	bytes.Buffer
	left int
}

var errTooMuch = errors.New("the process writes more than it may")

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooMuch
	}
	return b.Buffer.Write(p)
}

// ReadFrom keeps io.Copy from going around Write.
func (b *bounded) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, r)
}
