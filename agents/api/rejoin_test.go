package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/model"
)

// talker answers with many pieces, which come when they are let go.
type talker struct{ pieces chan string }

func (talker) Name() string { return "talker" }

func (m talker) Turn(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
	var all strings.Builder
	for p := range m.pieces {
		say(p)
		all.WriteString(p)
	}
	return model.Response{Message: model.Message{Content: all.String()}}, nil
}

// cutReader is a client whose connection is cut again and again, and that goes on after the last event that it
// has read as a whole.
type cutReader struct {
	s      *server
	path   string
	last   string
	events []string
}

// read reads up to a number of bytes, or to the end. It reports whether the stream has ended.
func (c *cutReader) read(bytes int) (over bool, err error) {
	ctx, cut := context.WithCancel(c.s.t.Context())
	defer cut()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.s.url+c.path, http.NoBody)
	if err != nil {
		return false, err
	}
	req.Header.Set("X-Test-User", "ada")
	if c.last != "" {
		req.Header.Set("Last-Event-ID", c.last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	var body io.Reader = resp.Body
	if bytes > 0 {
		body = io.LimitReader(body, int64(bytes)) // in the middle of an event, of a line, of a letter
	}
	lines := bufio.NewReader(body)
	var event strings.Builder
	id := ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return false, nil // what was read of the event does not count
		}
		if strings.HasPrefix(line, ":") {
			continue
		}
		if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(v)
		}
		if event.WriteString(line); line != "\n" {
			continue
		}
		c.events, c.last = append(c.events, event.String()), id
		if strings.HasPrefix(event.String(), "event: end\n") {
			return true, nil
		}
		event.Reset()
	}
}

// Streams that are cut at any place while a run is under way, and joined again, tell all of it once.
func TestCutStreamsLoseAndRepeatNothing(t *testing.T) {
	const readers, most = 200, 5
	m := talker{make(chan string)}
	s := newServer(t, m)
	thread := s.thread("ada")
	modes := "?stream_mode=values&stream_mode=messages-tuple"
	_, header, body := s.do("ada", http.MethodPost, "/threads/"+thread+"/runs", graph("go on"))
	run := header.Get("Content-Location")
	if run == "" {
		t.Fatal(body)
	}
	whole := &cutReader{s: s, path: run + "/stream" + modes}
	paths := []string{run + "/stream" + modes, "/threads/" + thread + "/stream?stream_mode=state_update"}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	all := make([]*cutReader, readers)
	fails := make(chan error, readers+1)
	var done sync.WaitGroup
	follow := func(c *cutReader, random *rand.Rand) {
		for cuts := 0; ; cuts++ {
			limit := 0
			if random != nil && cuts < most {
				limit = 1 + random.IntN(8000)
			}
			over, err := c.read(limit)
			if err != nil {
				fails <- err
				return
			}
			if over {
				return
			}
			if limit == 0 {
				fails <- fmt.Errorf("%s: the stream ended after %s without an end", c.path, c.last)
				return
			}
		}
	}
	done.Go(func() { follow(whole, nil) })
	for i := range all {
		all[i] = &cutReader{s: s, path: paths[i%len(paths)]}
		if strings.HasPrefix(all[i].path, "/threads/"+thread+"/stream") {
			all[i].last = "-1"
		}
		done.Go(func() { follow(all[i], rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	for i := range 40 {
		m.pieces <- fmt.Sprintf("piece %d, ", i)
	}
	close(m.pieces)
	done.Wait()
	close(fails)
	for err := range fails {
		t.Error(err)
	}
	followed := &cutReader{s: s, path: paths[1], last: "-1"}
	if _, err := followed.read(0); err != nil {
		t.Fatal(err)
	}
	if len(whole.events) < 40 || len(followed.events) != 4 {
		t.Fatalf("the run has %d events, and the thread %d", len(whole.events), len(followed.events))
	}
	for i, c := range all {
		want := whole.events
		if i%len(paths) == 1 {
			want = followed.events
		}
		if diff := cmp.Diff(want, c.events); diff != "" {
			t.Fatalf("reader %d (-want +got):\n%s", i, diff)
		}
	}
}
