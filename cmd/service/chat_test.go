package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
)

const doneEvent = "data: {\"type\":\"done\"}\n\n"

func newChat(t *testing.T, h http.HandlerFunc) (*chat, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	var out, told bytes.Buffer
	return &chat{target: cli.Target{Base: srv.URL, Token: "svc_t", HTTP: srv.Client()}, out: &out, told: &told, keys: newKeyboard(strings.NewReader(""))}, &out, &told
}

func TestAsk(t *testing.T) {
	c, out, _ := newChat(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		want := `{"input":{"messages":[{"role":"user","content":"hi"}]},"assistant_id":"quick"}`
		if r.URL.Path != "/runs/stream" || string(body) != want || r.Header.Get("Authorization") != "Bearer svc_t" {
			t.Errorf("got %s %s %v", r.URL.Path, body, r.Header)
		}
		_, _ = io.WriteString(w, "data: {\"type\":\"text\",\"content\":\"hello\"}\n\n"+doneEvent)
	})
	c.agent = "quick"
	if err := c.ask(context.Background(), "hi"); err != nil || out.String() != "hello\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestTalkKeepsOneThread(t *testing.T) {
	var paths []string
	c, out, told := newChat(t, func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		switch {
		case r.URL.Path == "/threads":
			_, _ = io.WriteString(w, `{"thread_id": "0b0f"}`)
		case len(paths) == 3:
			problem.Write(w, r, problem.Problem{Status: http.StatusConflict, Code: "thread_busy", Detail: "Another run is active."})
		default:
			_, _ = io.WriteString(w, "data: {\"type\":\"text\",\"content\":\"yes\"}\n\n"+doneEvent)
		}
	})
	c.keys = newKeyboard(strings.NewReader("one\n\ntwo\nthree\n"))
	if err := c.talk(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := "/threads /threads/0b0f/runs/stream /threads/0b0f/runs/stream /threads/0b0f/runs/stream"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("got requests %s, want %s", got, want)
	}
	if out.String() != "yes\nyes\n" || !strings.Contains(told.String(), "Error: Another run is active. (thread_busy)") {
		t.Errorf("got %q, %q", out.String(), told.String())
	}
}

// onWrite is a terminal at which somebody acts when the first words appear.
type onWrite func()

func (f onWrite) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}

func TestCtrlCCancelsTheRun(t *testing.T) {
	ctx, interrupt := context.WithCancel(context.Background())
	cancelled := make(chan string, 1)
	c, _, _ := newChat(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/cancel") {
			cancelled <- r.URL.Path
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Location", "/threads/t/runs/r")
		_, _ = io.WriteString(w, "data: {\"type\":\"text\",\"content\":\"a\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c.out = onWrite(interrupt)
	err := c.ask(ctx, "hi")
	if coded, ok := errors.AsType[*cli.CodedError](err); !ok || coded.Code != cli.ExitCancelled {
		t.Errorf("got %v, want the exit code 130", err)
	}
	if got, want := <-cancelled, "/threads/t/runs/r/cancel"; got != want {
		t.Errorf("got the request %s, want %s", got, want)
	}
}
