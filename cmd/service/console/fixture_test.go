//go:build linux

package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/cmd/service/console"
	"github.com/svc-gateway/svc/internal/eventually"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// service is what the tests have instead of the API.
type service struct {
	t    *testing.T
	base string
	runs chan *run // that were started

	mu        sync.Mutex
	decisions []ask.Decision
	cancelled chan string
}

// run is the stream of one run, which the test writes.
type run struct {
	path, agent, prompt string
	events              chan string
}

// send sends an event.
func (r *run) send(format string, args ...any) {
	r.events <- "data: " + fmt.Sprintf(format, args...) + "\n\n"
}

// say sends a piece of the answer.
func (r *run) say(text string) {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	r.send(`{"type":"message_chunk","content":%s}`, b)
}

func (r *run) done() {
	r.send(`{"type":"done"}`)
	close(r.events)
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{t: t, runs: make(chan *run, 4), cancelled: make(chan string, 4)}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.base = srv.URL
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/threads":
		_, _ = io.WriteString(w, `{"thread_id":"t1"}`)
	case r.URL.Path == "/assistants/search":
		_, _ = io.WriteString(w, `[{"name":"svc-orchestrator"},{"name":"core"}]`)
	case r.URL.Path == "/threads/search":
		_, _ = io.WriteString(w, `[{"thread_id":"t1"}]`)
	case r.URL.Path == "/assistants/core", r.URL.Path == "/threads/t1":
		_, _ = io.WriteString(w, `{}`)
	case strings.HasPrefix(r.URL.Path, "/assistants/"):
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "assistant_not_found", Detail: "there is no such agent"})
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/threads/"):
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "thread_not_found", Detail: "there is no such thread"})
	case strings.HasSuffix(r.URL.Path, "/cancel"):
		w.WriteHeader(http.StatusAccepted)
		s.cancelled <- r.URL.Path
	case strings.HasPrefix(r.URL.Path, "/approvals/"):
		var d ask.Decision
		if err := json.Unmarshal(body, &d); err != nil {
			s.t.Errorf("decision: %v", err)
		}
		s.mu.Lock()
		s.decisions = append(s.decisions, d)
		s.mu.Unlock()
		_, _ = io.WriteString(w, `{"state":"approved"}`)
	case strings.HasSuffix(r.URL.Path, "/runs/stream"):
		var req ask.Run
		if err := json.Unmarshal(body, &req); err != nil {
			s.t.Errorf("run: %v", err)
		}
		w.Header().Set("Content-Location", "/threads/t1/runs/r1")
		w.WriteHeader(http.StatusOK)
		one := &run{path: r.URL.Path, agent: req.AssistantID, prompt: req.Input.Messages[0].Content, events: make(chan string, 1000)}
		out := http.NewResponseController(w)
		if out.Flush() != nil {
			return
		}
		s.runs <- one
		for {
			select {
			case e, more := <-one.events:
				_, err := io.WriteString(w, e)
				if !more || err != nil || out.Flush() != nil {
					return
				}
			case <-r.Context().Done():
				return
			}
		}
	default:
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "not_found", Detail: "no such endpoint"})
	}
}

// Send implements [ask.Service].
func (s *service) Send(ctx context.Context, method, path string, in any, _ ...string) (*http.Response, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil && resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, problem.Parse(resp)
	}
	return resp, err
}

func (s *service) decided() []ask.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ask.Decision{}, s.decisions...)
}

// next is the next run that is started.
func (s *service) next() *run {
	s.t.Helper()
	select {
	case r := <-s.runs:
		return r
	case <-time.After(patience):
		s.t.Fatal("no run was started")
		return nil
	}
}

// screen is a terminal with a conversation in it.
type screen struct {
	t        *testing.T
	terminal *os.File // the end of the person
	tty      *os.File // the end of the program
	before   *unix.Termios
	vt       vt10x.Terminal
	ended    chan error

	mu    sync.Mutex
	wrote strings.Builder // all that the program wrote
}

// open starts a conversation in a terminal of 80 by 24.
func open(t *testing.T, s *service, role policy.Role, env ...string) *screen {
	t.Helper()
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	v := &screen{t: t, terminal: terminal, tty: tty, ended: make(chan error, 1)}
	v.resize(80, 24)
	if v.before, err = unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go v.read(read)
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		v.ended <- console.Run(ctx, console.Config{
			Client: ask.Client{Service: s}, User: policy.Principal{User: "ann", Role: role}, In: tty, Out: tty,
			Env: append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "SSH_TTY=x"}, env...), // SSH_TTY: nothing is asked of the emulator
		})
	}()
	t.Cleanup(func() {
		stop()
		<-over
		_ = tty.Close()
		_ = terminal.Close()
		<-read
	})
	v.until("help lists the commands")
	return v
}

// keyboard is what asks for a protocol of keyboards; the emulator takes it for a movement of the cursor.
var (
	keyboard   = regexp.MustCompile(`\x1b\[[<>=?][0-9;]*u`)
	unfinished = regexp.MustCompile(`\x1b(\[[<>=?0-9;]*)?$`)
)

func (v *screen) read(done chan struct{}) {
	defer close(done)
	buf, unread := make([]byte, 32<<10), ""
	for {
		n, err := v.terminal.Read(buf)
		v.mu.Lock()
		v.wrote.Write(buf[:n])
		if v.vt != nil {
			text := unread + string(buf[:n])
			unread = unfinished.FindString(text)
			_, _ = v.vt.Write([]byte(keyboard.ReplaceAllString(strings.TrimSuffix(text, unread), "")))
		}
		v.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (v *screen) resize(width, height int) {
	v.t.Helper()
	v.mu.Lock()
	if v.vt == nil {
		v.vt = vt10x.New(vt10x.WithSize(width, height))
	} else {
		v.vt.Resize(width, height)
	}
	v.mu.Unlock()
	if err := pty.Setsize(v.terminal, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		v.t.Fatal(err)
	}
	// The kernel tells the processes of the terminal's session, of which this one is not.
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		v.t.Fatal(err)
	}
}

// shows is what can be read on the screen.
func (v *screen) shows() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var lines []string
	for line := range strings.SplitSeq(v.vt.String(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// raw is all that the program wrote.
func (v *screen) raw() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.wrote.String()
}

// until waits until something is on the screen.
func (v *screen) until(text string) {
	v.t.Helper()
	v.when(fmt.Sprintf("%q is shown", text), func() bool { return strings.Contains(v.shows(), text) })
}

func (v *screen) when(what string, holds func() bool) {
	v.t.Helper()
	defer func() {
		if v.t.Failed() {
			v.t.Logf("the screen:\n%s", v.shows())
		}
	}()
	eventually.True(v.t, what, holds)
}

// types sends keys.
func (v *screen) types(keys string) {
	v.t.Helper()
	if _, err := io.WriteString(v.terminal, keys); err != nil {
		v.t.Fatal(err)
	}
}

// end waits for the end of the conversation; the terminal must be as it was.
func (v *screen) end() error {
	v.t.Helper()
	select {
	case err := <-v.ended:
		after, terr := unix.IoctlGetTermios(int(v.tty.Fd()), unix.TCGETS)
		if terr != nil || *after != *v.before {
			v.t.Errorf("the terminal was %+v and is %+v, %v", v.before, after, terr)
		}
		return err
	case <-time.After(patience):
		v.t.Fatalf("it does not end; the screen:\n%s", v.shows())
		return nil
	}
}
