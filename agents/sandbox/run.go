package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
	"github.com/svc-gateway/svc/internal/compat"
)

// patience is how long the helper may take to end a sandbox.
const patience = 5 * time.Second

// Run runs a program in a new sandbox and waits until nothing of it is left. Errors are [ErrSpec],
// [*CommandError], [*Unavailable], and that of the context, when it ends before the program.
func (b *Box) Run(ctx context.Context, s Spec) (Result, error) {
	req, err := b.request(s)
	if err != nil {
		return Result{}, err
	}
	if s.Database != nil {
		release, err := b.addDatabase(&req, *s.Database)
		if err != nil {
			return Result{}, err
		}
		defer release()
	}
	output := most(s.Limits.Output, b.config.Limits.Output)
	return b.run(ctx, req, s, output)
}

func (b *Box) run(ctx context.Context, req wire.Request, s Spec, keep int) (result Result, err error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("running %s: %w", req.Args[0], err)
	}
	id := newID()
	if req.Mode == wire.Minimal {
		remove, err := b.makeWorkspace(&req, id)
		if err != nil {
			return Result{}, err
		}
		defer remove()
	} else if req.Network == wire.Proxy {
		p, err := b.listen(id, s.OnEgress)
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
	h := &running{config: b.config, keep: keep, stdin: s.Stdin, live: s.Output}
	if err := h.start(b.server, text); err != nil {
		return Result{}, err
	}
	if req.Mode == wire.Minimal {
		defer h.watch(req.Workspace, req.Limits.Workspace)()
	}
	if err := h.wait(ctx); err != nil {
		return Result{}, fmt.Errorf("running %s: %w", req.Args[0], err)
	}
	result, err = h.result()
	result.DurationMS = time.Since(start).Milliseconds()
	return result, err
}

// running is one run that the helper does.
type running struct {
	config Config
	keep   int
	stdin  io.Reader
	live   io.Writer // gets the output; nil: it is kept

	by      *serving
	grown   atomic.Bool // the workspace had become too large
	request *os.File    // open as long as the sandbox may live
	reading []*os.File
	outputs sync.WaitGroup
	replied chan struct{}
	stop    sync.Once

	stdout, stderr output
	report         *wire.Report
	summary        *wire.Summary
	contents       [][]byte
	readErr        error
}

// start hands the helper the request.
func (h *running) start(s *server, text []byte) (err error) {
	var all, theirs []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
			all = append(all, r, w)
		}
		return r, w
	}
	requestR, requestW := pipe()
	replyR, replyW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	var in, feed *os.File
	if h.stdin != nil {
		in, feed = pipe()
	} else if err == nil {
		in, err = os.Open(os.DevNull)
		all = append(all, in)
	}
	theirs = []*os.File{requestR, replyW, in, outW, errW}
	if err == nil {
		h.by, err = s.send(theirs)
	}
	if err != nil {
		for _, f := range all {
			_ = f.Close()
		}
		return fmt.Errorf("starting a sandbox: %w", err)
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	h.request, h.reading = requestW, []*os.File{outR, errR}
	h.replied = make(chan struct{})
	h.stdout, h.stderr = output{keep: h.keep, live: h.live, stop: h.end}, output{keep: h.keep, stop: h.end}
	h.outputs.Go(func() { h.stdout.drain(outR) })
	h.outputs.Go(func() { h.stderr.drain(errR) })
	go func() {
		defer close(h.replied)
		h.readErr = h.read(replyR)
		_ = replyR.Close()
	}()
	if feed != nil {
		go func() { // a Read that does not return is left behind
			_, _ = io.Copy(feed, h.stdin)
			_ = feed.Close()
		}()
	}
	if err := wire.WriteRequest(h.request, text); err != nil {
		h.end() // the helper has gone, which result finds out
	}
	return nil
}

// end has the helper end the sandbox.
func (h *running) end() { h.stop.Do(func() { _ = h.request.Close() }) }

// wait waits until everything in the sandbox is gone. A helper that does not get it gone in time is
// ended itself, with all that it runs.
func (h *running) wait(ctx context.Context) error {
	var cause error
	select {
	case <-h.replied:
	case <-ctx.Done():
		cause = ctx.Err()
		h.end()
		select {
		case <-h.replied:
		case <-time.After(patience):
			_ = h.by.cmd.Process.Kill()
			<-h.by.ended
		}
	}
	h.end()
	for _, f := range h.reading {
		_ = f.SetReadDeadline(time.Now().Add(time.Second)) // nobody is left who could write
	}
	h.outputs.Wait()
	for _, f := range h.reading {
		_ = f.Close()
	}
	return cause
}

// read takes in what the helper answers.
func (h *running) read(f *os.File) error {
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
func (h *running) result() (Result, error) {
	flooded := max(h.stdout.total, h.stderr.total) > flood(h.keep)
	s := h.summary
	switch {
	case s == nil && h.readErr != nil:
		return Result{}, h.readErr
	case s == nil:
		h.by.leaves()
		return Result{}, &Unavailable{"the helper ended without an answer: " + h.by.says.String()}
	}
	if err := compat.Check(s.Version); err != nil {
		return Result{}, &Unavailable{fmt.Sprintf("%s was replaced and cannot be used: %v", h.config.Helper, err)}
	}
	r := Result{
		Exit: -1, Signal: "SIGKILL", TimedOut: s.TimedOut, OOM: s.OOM,
		Stdout: h.stdout.String(), Stderr: h.stderr.String(),
		Truncated: h.stdout.truncated() || h.stderr.truncated(),
		Files:     []File{}, Where: Local, Degraded: s.Degraded,
	}
	if h.report == nil {
		if h.grown.Load() {
			r.Left = append(r.Left, fmt.Sprintf("all of it: the workspace had more than the %d bytes that it may have", h.config.Limits.Workspace))
		} else if !flooded && !s.TimedOut && !s.OOM {
			if s.Error != nil {
				return Result{}, fault(s.Error)
			}
			return Result{}, &Unavailable{"the sandbox ended without a report: " + h.by.says.String()}
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
