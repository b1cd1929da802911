package main

import (
	"bytes"
	"context"
	"fmt"
	"syscall"
)

// waiter is a way to have streams open that wait.
type waiter struct {
	name    string
	start   func(ctx context.Context, s site, name, upstream string) (*service, error)
	request func(ctx context.Context, sv *service) ([]byte, error)
}

// waiters come in pairs: what Caddy itself needs, and what ours needs in its place.
var waiters = []waiter{
	{"reverse_proxy, bare", caddyWith(bareCaddyfile), getting("/wait")},
	{"reverse_proxy, all stages", caddyWith(stagesCaddyfile), getting("/wait")},
	{"in process, bare Caddy handler", bareHandler, getting("/")},
	{"in process, all stages, readers of a run", agentsWithSilentModel, joinRun},
}

func caddyWith(caddyfile string) func(context.Context, site, string, string) (*service, error) {
	return func(ctx context.Context, s site, name, upstream string) (*service, error) {
		return s.caddy(ctx, name, caddyfile, upstream)
	}
}

func bareHandler(ctx context.Context, s site, name, _ string) (*service, error) {
	return s.bareHandler(ctx, name)
}

func agentsWithSilentModel(ctx context.Context, s site, name, upstream string) (*service, error) {
	return s.caddy(ctx, name, agentsCaddyfile, upstream,
		"SVC_MODEL_PROVIDER=openai", "SVC_MODEL_NAME=mock", "SVC_MODEL_BASE_URL=http://"+upstream+"/v1")
}

func getting(path string) func(context.Context, *service) ([]byte, error) {
	return func(_ context.Context, sv *service) ([]byte, error) { return get(path, sv.token), nil }
}

// streams measures the memory of a waiting stream.
func (b *bench) streams(ctx context.Context) error {
	if err := raiseFiles(uint64(2*b.plan.streams + 500)); err != nil { // a proxied stream has two connections
		return err
	}
	upstream, stop, err := b.site.upstream(ctx)
	if err != nil {
		return err
	}
	defer stop()
	for i, w := range waiters {
		b.progress("%d streams, %s", b.plan.streams, w.name)
		f, err := b.wait(ctx, fmt.Sprintf("wait%d", i), w, upstream)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		b.report.Streams = append(b.report.Streams, f)
	}
	return nil
}

// wait opens streams to a service of its own and reads what they add to its memory.
func (b *bench) wait(ctx context.Context, name string, w waiter, upstream string) (f streamFigures, err error) {
	sv, err := w.start(ctx, b.site, name, upstream)
	if err != nil {
		return f, err
	}
	defer sv.stop()
	request, err := w.request(ctx, sv)
	if err != nil {
		return f, err
	}
	// Some streams come first, so that what is made once is not counted.
	var open crowd
	defer open.close()
	const first = 100
	if err := open.add(ctx, first, sv.addr, request); err != nil {
		return f, err
	}
	if err := pause(ctx, b.plan.settle/2); err != nil {
		return f, err
	}
	before, err := sv.collected(ctx)
	if err != nil {
		return f, err
	}
	if err := open.add(ctx, b.plan.streams-first, sv.addr, request); err != nil {
		return f, err
	}
	if err := pause(ctx, b.plan.settle); err != nil {
		return f, err
	}
	loaded, err := residentMemory(sv.pid())
	if err != nil {
		return f, err
	}
	after, err := sv.collected(ctx)
	if err != nil {
		return f, err
	}
	if err := open.alive(); err != nil {
		return f, err
	}
	n := b.plan.streams - first
	return streamFigures{
		Name: w.name, Streams: b.plan.streams,
		Loaded: loaded.minus(memory{Resident: before.Resident, Own: before.Own}).each(n), Collected: after.minus(before).each(n),
	}, nil
}

// joinRun starts a run whose model says something and then nothing, and returns the request of
// one more reader of it.
func joinRun(ctx context.Context, sv *service) ([]byte, error) {
	c, err := dial(ctx, sv.addr, 4<<10)
	if err != nil {
		return nil, err
	}
	defer c.close() // the run goes on
	var thread []byte
	f, err := c.send(post("/threads", sv.token, []byte("{}")))
	if err != nil {
		return nil, err
	}
	if err := readBody(c.r, f, func(b []byte) error { thread = append(thread, b...); return nil }); err != nil {
		return nil, fmt.Errorf("making a thread: %w", err)
	}
	_, rest, _ := bytes.Cut(thread, []byte(`"thread_id":"`))
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return nil, fmt.Errorf("making a thread: %w: %s", errBody, thread)
	}
	path := "/threads/" + string(id) + "/runs/stream"
	if _, err := c.send(post(path, sv.token, requestBody)); err != nil {
		return nil, fmt.Errorf("starting a run: %w", err)
	}
	return get(path, sv.token), nil
}

// raiseFiles makes sure that this process and its children may have n files open. Go raises the
// limit for itself as far as it may, and gives children the one it was started with.
func raiseFiles(n uint64) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("reading the limit of open files: %w", err)
	}
	if l.Max < n {
		return fmt.Errorf("the limit of open files is %d and %d are needed: raise it (ulimit -Hn), or leave the part out with -only", l.Max, n)
	}
	l.Cur = l.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("raising the limit of open files: %w", err)
	}
	return nil
}
