package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
	"github.com/svc-gateway/svc/internal/compat"
)

// patience is how long the helper may take to end a sandbox before it is killed itself.
const patience = 5 * time.Second

// Run runs a program in a new sandbox and waits until nothing of it is left. Errors are [ErrSpec],
// [*CommandError], [*Unavailable], and that of the context, when it ends before the program.
func (b *Box) Run(ctx context.Context, s Spec) (Result, error) {
	req, err := b.request(s)
	if err != nil {
		return Result{}, err
	}
	output := most(s.Limits.Output, b.config.Limits.Output)
	return b.run(ctx, req, s, output)
}

func (b *Box) run(ctx context.Context, req wire.Request, s Spec, keep int) (result Result, err error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("running %s: %w", req.Args[0], err)
	}
	req.ID = newID()
	if req.Mode == wire.Minimal {
		remove, err := b.makeWorkspace(&req)
		if err != nil {
			return Result{}, err
		}
		defer remove()
	} else if req.Network == wire.Proxy {
		p, err := b.listen(req.ID, s.Run)
		if err != nil {
			return Result{}, err
		}
		defer p.close()
		req.ProxySocket = p.path
		req.Env = append(req.Env, proxyVariables(req.Env)...)
	}
	text, err := json.Marshal(req)
	if err != nil {
		return Result{}, fmt.Errorf("writing the request: %w", err)
	}
	start := time.Now()
	h := &helper{config: b.config, keep: keep, stdin: s.Stdin}
	if err := h.start(text); err != nil {
		return Result{}, err
	}
	if req.Mode == wire.Minimal {
		defer h.watch(req.Workspace, req.Limits.Workspace)()
	}
	err = h.wait(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("running %s: %w", req.Args[0], err)
	}
	result, err = h.result()
	result.DurationMS = time.Since(start).Milliseconds()
	return result, err
}

// helper is one running svc-sandbox.
type helper struct {
	config Config
	keep   int
	stdin  io.Reader

	cmd     *exec.Cmd
	request *os.File // open as long as the sandbox may live
	reading []*os.File
	readers sync.WaitGroup
	ended   chan struct{}
	stop    sync.Once
	says    tail

	stdout, stderr output
	report         *wire.Report
	summary        *wire.Summary
	contents       [][]byte
	readErr        error
}

// start starts it and hands it the request.
func (h *helper) start(text []byte) (err error) {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
		if err != nil {
			for _, f := range append(h.reading, h.request) {
				if f != nil {
					_ = f.Close()
				}
			}
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	requestR, requestW := pipe()
	replyR, replyW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	h.request, h.reading = requestW, []*os.File{replyR, outR, errR}
	var in, feed *os.File
	if h.stdin == nil {
		if err == nil {
			in, err = os.Open(os.DevNull)
		}
	} else {
		in, feed = pipe()
	}
	theirs = []*os.File{requestR, replyW, in, outW, errW}
	if err != nil {
		return fmt.Errorf("making pipes: %w", err)
	}
	h.cmd = exec.Command(h.config.Helper)
	h.cmd.Env = helperEnvironment()
	h.cmd.ExtraFiles = theirs
	h.cmd.Stderr = &h.says
	h.cmd.WaitDelay = time.Second
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C is for this process
	if err := h.cmd.Start(); err != nil {
		if feed != nil {
			_ = feed.Close()
		}
		return &Unavailable{fmt.Sprintf("starting %s: %v", h.config.Helper, err)}
	}
	h.ended = make(chan struct{})
	h.stdout, h.stderr = output{keep: h.keep, stop: h.end}, output{keep: h.keep, stop: h.end}
	h.readers.Go(func() { h.stdout.drain(outR) })
	h.readers.Go(func() { h.stderr.drain(errR) })
	h.readers.Go(func() { h.readErr = h.read(replyR) })
	if feed != nil {
		go func() { // a Read that does not return is left behind
			_, _ = io.Copy(feed, h.stdin)
			_ = feed.Close()
		}()
	}
	if err := wire.WriteRequest(h.request, text); err != nil {
		h.end() // it has gone; what it said is in the summary, or in says
	}
	return nil
}

// end has the helper end the sandbox.
func (h *helper) end() { h.stop.Do(func() { _ = h.request.Close() }) }

// wait waits until the helper, and with it everything in the sandbox, is gone.
func (h *helper) wait(ctx context.Context) error {
	go func() {
		defer close(h.ended)
		_ = h.cmd.Wait() // the summary says how it went
	}()
	var cause error
	select {
	case <-h.ended:
	case <-ctx.Done():
		cause = ctx.Err()
		h.end()
		select {
		case <-h.ended:
		case <-time.After(patience):
			_ = h.cmd.Process.Kill()
			<-h.ended
		}
	}
	h.end()
	for _, f := range h.reading {
		_ = f.SetReadDeadline(time.Now().Add(time.Second)) // nobody is left who could write
	}
	h.readers.Wait()
	for _, f := range h.reading {
		_ = f.Close()
	}
	return cause
}

// read takes in what the helper answers.
func (h *helper) read(f *os.File) error {
	r := bufio.NewReader(f)
	var room int64
	for {
		kind, size, err := wire.ReadHeader(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return replyf("reading it: %w", err)
		}
		switch {
		case kind == wire.KindReport && h.report == nil:
			h.report = &wire.Report{}
			err = wire.ReadMessage(r, size, h.report)
			for _, f := range h.report.Files {
				room += f.Size
			}
		case kind == wire.KindFile && h.report != nil && len(h.contents) < len(h.report.Files) && size <= room && size <= h.config.Limits.Workspace:
			content := make([]byte, size)
			_, err = io.ReadFull(r, content)
			h.contents, room = append(h.contents, content), room-size
		case kind == wire.KindSummary:
			h.summary = &wire.Summary{}
			err = wire.ReadMessage(r, size, h.summary)
		default:
			return replyf("a frame %q is not expected", rune(kind))
		}
		if err != nil {
			return replyf("reading a frame %q: %w", rune(kind), err)
		}
	}
}

// result puts together what the helper, and the one inside, have reported.
func (h *helper) result() (Result, error) {
	flooded := h.stdout.total > flood*int64(h.keep) || h.stderr.total > flood*int64(h.keep)
	s := h.summary
	switch {
	case s == nil && h.readErr != nil:
		return Result{}, h.readErr
	case s == nil:
		return Result{}, &Unavailable{"the helper ended without an answer: " + h.says.String()}
	}
	if err := compat.Check(s.Version); err != nil {
		return Result{}, &Unavailable{fmt.Sprintf("%s was replaced and cannot be used: %v", h.config.Helper, err)}
	}
	r := Result{
		Exit: -1, Signal: "SIGKILL", TimedOut: s.TimedOut, OOM: s.OOM,
		Stdout: h.stdout.String(), Stderr: h.stderr.String(),
		Truncated: h.stdout.truncated() || h.stderr.truncated(),
		Files:     []File{}, Degraded: s.Degraded,
	}
	if h.report == nil {
		if !flooded && !s.TimedOut && !s.OOM {
			if s.Error != nil {
				return Result{}, fault(s.Error)
			}
			return Result{}, &Unavailable{"the sandbox ended without a report: " + h.says.String()}
		}
	} else {
		if err := h.report.Error; err != nil {
			return Result{}, fault(err)
		}
		r.Exit, r.Signal, r.Left = h.report.Exit, h.report.Signal, h.report.Left
		r.TimedOut = r.TimedOut || h.report.TimedOut
		r.Degraded = append(r.Degraded, h.report.Degraded...)
		if len(h.contents) != len(h.report.Files) {
			return Result{}, replyf("%d files of %d came", len(h.contents), len(h.report.Files))
		}
		for i, f := range h.report.Files {
			r.Files = append(r.Files, File{Path: f.Path, Size: int64(len(h.contents[i])), Exec: f.Exec, Content: h.contents[i]})
		}
	}
	if r.Degraded == nil {
		r.Degraded = []string{}
	}
	slices.Sort(r.Degraded)
	r.Degraded = slices.Compact(r.Degraded)
	return r, nil
}

// fault gives an error of the helper its type.
func fault(f *wire.Fault) error {
	switch f.Part {
	case wire.PartCommand:
		return &CommandError{f.Text}
	case wire.PartRequest:
		return specf("%s", f.Text)
	}
	return &Unavailable{f.Text}
}
