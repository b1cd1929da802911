//go:build linux

package testscript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// group is the streams that one line of a script opened.
type group struct {
	all    []*reader
	cancel context.CancelFunc
}

// reader is one stream and what it has received.
type reader struct {
	mu    sync.Mutex
	got   bytes.Buffer
	err   error // how it ended; io.EOF is a regular end
	ended chan struct{}
}

func (r *reader) received() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.got.Bytes())
}

// read takes the body to its end, one byte a second if it is slow.
func (r *reader) read(ctx context.Context, body io.ReadCloser, slow bool) {
	defer close(r.ended)
	defer body.Close()
	buf := make([]byte, 4096)
	if slow {
		buf = buf[:1]
	}
	for {
		n, err := body.Read(buf)
		r.mu.Lock()
		r.got.Write(buf[:n])
		r.err = err
		r.mu.Unlock()
		if err != nil {
			return
		}
		if slow {
			pause(ctx, time.Second)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func openStreams(c *call) error {
	if len(c.args) == 0 {
		return errors.New("usage: stream NAME [-n N] [-slow] METHOD PATH [FILE]")
	}
	name := c.args[0]
	c.args = c.args[1:]
	var n int
	var slow bool
	r, err := c.newRequest(func(f *flag.FlagSet) {
		f.IntVar(&n, "n", 1, "how many")
		f.BoolVar(&slow, "slow", false, "read a byte a second")
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cleanup(cancel)
	g := &group{cancel: cancel}
	c.streams[name] = g
	for range n {
		resp, err := c.send(ctx, r)
		if err != nil {
			return err
		}
		if len(g.all) == 0 {
			head(&c.out, resp)
		}
		if resp.StatusCode != http.StatusOK {
			_, err := io.Copy(&c.out, resp.Body)
			return errors.Join(errors.New(resp.Status), err, resp.Body.Close())
		}
		rd := &reader{ended: make(chan struct{})}
		g.all = append(g.all, rd)
		go rd.read(ctx, resp.Body, slow)
	}
	return nil
}

func (c *call) group() (*group, error) {
	if len(c.args) == 0 || c.streams[c.args[0]] == nil {
		return nil, errors.New("there is no such stream")
	}
	return c.streams[c.args[0]], nil
}

func await(c *call) error {
	g, err := c.group()
	if err != nil || len(c.args) != 2 {
		return errors.Join(errors.New("usage: await NAME REGEXP"), err)
	}
	re, err := regexp.Compile("(?m)" + c.args[1])
	if err != nil {
		return err
	}
	for i, r := range g.all {
		err := poll(func() (bool, error) {
			got := r.received()
			return re.Match(got), fmt.Errorf("stream %d has %q", i, got)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish waits for the end of the streams. It fails when one was broken off.
func finish(c *call) error {
	g, err := c.group()
	if err != nil {
		return err
	}
	return g.finish(c)
}

func (g *group) finish(c *call) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	count := map[string]int{}
	var order []string
	var broken []error
	for i, r := range g.all {
		select {
		case <-r.ended:
		case <-deadline.C:
			return fmt.Errorf("stream %d has not ended and has %q", i, r.received())
		}
		got := string(r.received())
		if count[got]++; count[got] == 1 {
			order = append(order, got)
		}
		if !errors.Is(r.err, io.EOF) {
			broken = append(broken, fmt.Errorf("stream %d: %w", i, r.err))
		}
	}
	for _, got := range order {
		fmt.Fprintf(&c.out, "# received by %d\n%s", count[got], got)
		c.err.WriteString(answer([]byte(got)))
	}
	return errors.Join(broken...)
}

func leave(c *call) error {
	g, err := c.group()
	if err != nil {
		return err
	}
	g.cancel()
	for _, r := range g.all {
		<-r.ended
	}
	return nil
}

// sse reads one stream to its end.
func sse(c *call) error {
	const name = "sse"
	c.args = append([]string{name}, c.args...)
	if err := openStreams(c); err != nil {
		return err
	}
	return c.streams[name].finish(c)
}

// ask is sse with a question.
func ask(c *call) error {
	f := flag.NewFlagSet("ask", flag.ContinueOnError)
	f.SetOutput(&c.err)
	agent := f.String("agent", "", "assistant_id")
	thread := f.String("thread", "", "thread_id")
	user := f.String("user", "", "user_id")
	if err := f.Parse(c.args); err != nil {
		return err
	}
	body := map[string]any{"input": map[string]any{"messages": []any{
		map[string]string{"role": "user", "content": strings.Join(f.Args(), " ")},
	}}}
	for name, value := range map[string]string{"assistant_id": *agent, "thread_id": *thread, "user_id": *user} {
		if value != "" {
			body[name] = value
		}
	}
	doc, err := json.Marshal(body)
	if err != nil {
		return err
	}
	c.args = []string{"-d", string(doc), http.MethodPost, "/runs/stream"}
	return sse(c)
}

// answer joins the pieces of an answer.
func answer(stream []byte) string {
	var b strings.Builder
	for line := range bytes.SplitSeq(stream, []byte("\n")) {
		var e struct{ Type, Content string }
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && json.Unmarshal(data, &e) == nil &&
			(e.Type == "message_chunk" || e.Type == "text") {
			b.WriteString(e.Content)
		}
	}
	return b.String()
}
