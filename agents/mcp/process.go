package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-gateway/svc/agents/sandbox"
)

// endTime is how long a program may take to end when its input has ended.
const endTime = 2 * time.Second

// process is a program that a server runs in, and the way to it.
type process struct {
	sdk.IOTransport
	stop func()       // ends the program, and returns when nothing of it is left
	why  func() error // how it ended, once it has
}

// errStopped is in the chain of the error of a program that has ended, or could not be started.
var errStopped = errors.New("its program does not run")

// start runs the server's program.
func (c *Config) start() *process {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	in := &quota{ReadCloser: outR, left: burst, at: time.Now()}
	p := &process{IOTransport: sdk.IOTransport{Reader: in, Writer: inW, MaxLineLength: 2 * maxMessage}}
	var mu sync.Mutex
	var ended error
	p.why = func() error {
		mu.Lock()
		defer mu.Unlock()
		return cmp.Or(in.broken(), ended)
	}
	var work sync.WaitGroup
	p.stop = func() {
		_ = inW.Close()
		_ = outR.Close()
		cancel()
		work.Wait()
	}
	run := c.inSandbox
	if c.Host {
		run = c.onHost
	}
	work.Go(func() {
		err := run(ctx, inR, outW)
		mu.Lock()
		ended = fmt.Errorf("%w: %w", errStopped, err)
		mu.Unlock()
		_ = inR.CloseWithError(io.ErrClosedPipe)
		_ = outW.CloseWithError(io.EOF)
	})
	return p
}

// inSandbox runs the program in a sandbox until it or ctx ends.
func (c *Config) inSandbox(ctx context.Context, in *io.PipeReader, out io.Writer) error {
	spec := sandbox.Spec{Args: c.Command, Stdin: in, Output: out, Env: c.Env, Network: c.Network, OnEgress: c.Egress}
	for _, path := range c.Read {
		spec.Binds = append(spec.Binds, sandbox.Bind{Source: path})
	}
	for _, path := range c.Write {
		spec.Binds = append(spec.Binds, sandbox.Bind{Source: path, Writable: true})
	}
	res, err := c.Sandbox.Run(ctx, spec)
	if err != nil {
		return err
	}
	how := fmt.Sprintf("exit status %d", res.Exit)
	if res.Signal != "" {
		how = "signal " + res.Signal
	}
	return c.exited(how, res.Stderr)
}

// onHost runs the program beside the sandbox, with nothing of this process's environment, in a folder that
// nobody else can put files into and a group of processes that ends with it.
func (c *Config) onHost(ctx context.Context, in *io.PipeReader, out io.Writer) error {
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	if cmd.Err != nil {
		return cmd.Err
	}
	if err := os.MkdirAll(c.folder(), 0o700); err != nil {
		return fmt.Errorf("making the folder of the program: %w", err)
	}
	var says beginning
	cmd.Stdout, cmd.Stderr = out, &says
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting %s: %w", c.Command[0], err)
	}
	var feeding sync.WaitGroup
	feeding.Go(func() {
		_, _ = io.Copy(stdin, in)
		_ = stdin.Close()
	})
	defer func() { _ = in.CloseWithError(io.ErrClosedPipe); feeding.Wait() }()
	cmd.Env, cmd.Dir = c.environment(), c.folder()
	cmd.SysProcAttr = dependent()
	cmd.Cancel = func() error { return endGroup(cmd.Process.Pid) }
	cmd.WaitDelay = endTime
	err = cmd.Run()
	if cmd.Process != nil {
		_ = endGroup(cmd.Process.Pid) // what it has left behind
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no program %s", c.Command[0])
	}
	how := "exit status 0"
	if err != nil {
		how = err.Error()
	}
	return c.exited(how, says.String())
}

// exited is the error for a program that has ended, with what it has said, without its secrets.
func (c *Config) exited(how, said string) error {
	if said = strings.TrimSpace(short(c.hide(said), 500)); said == "" {
		said = "it said nothing on its standard error"
	}
	return fmt.Errorf("it ended (%s): %s", how, said)
}

func endGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// beginning keeps that of what a program says of its troubles.
type beginning struct {
	mu   sync.Mutex
	text []byte
}

func (b *beginning) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p[:min(len(p), 4096-len(b.text))]...)
	return len(p), nil
}

func (b *beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
