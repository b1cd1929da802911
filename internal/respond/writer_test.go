package respond_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/respond"
)

// loud is a stage that writes bodies in capitals.
type loud struct {
	respond.Writer
	codes  []int
	passes bool
}

func newLoud(client http.ResponseWriter) *loud {
	w := new(loud)
	w.Writer = respond.New(client, w)
	return w
}

func (w *loud) Begin(code int) {
	w.codes = append(w.codes, code)
	w.ResponseWriter.WriteHeader(code)
}

func (w *loud) Passes() bool               { return w.passes }
func (w *loud) Body(p []byte) (int, error) { return w.ResponseWriter.Write(bytes.ToUpper(p)) }

// client is a recorder with a connection behind it, which counts the short cuts that are taken.
type client struct {
	*httptest.ResponseRecorder
	codes      []int
	readFroms  int
	deadlines  int
	fullDuplex bool
}

func newClient() *client { return &client{ResponseRecorder: httptest.NewRecorder()} }

func (c *client) WriteHeader(code int) {
	c.codes = append(c.codes, code)
	if code >= 200 {
		c.ResponseRecorder.WriteHeader(code)
	}
}

func (c *client) ReadFrom(r io.Reader) (int64, error) {
	c.readFroms++
	return io.Copy(struct{ io.Writer }{c.ResponseRecorder}, r)
}

func (c *client) SetReadDeadline(time.Time) error  { c.deadlines++; return nil }
func (c *client) SetWriteDeadline(time.Time) error { c.deadlines++; return nil }
func (c *client) EnableFullDuplex() error          { c.fullDuplex = true; return nil }

var errGone = errors.New("the connection was given away")

func (c *client) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, errGone }

// Every way to write ends at the stage.
func TestEveryWayGoesThroughTheStage(t *testing.T) {
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			c := newClient()
			w := newLoud(c)
			if err := write(w, "hello"); err != nil {
				t.Fatal(err)
			}
			if got := c.Body.String(); got != "HELLO" || len(w.codes) != 1 || c.readFroms != 0 {
				t.Errorf("got %q, begun with %v, %d short cuts; want HELLO, once, none", got, w.codes, c.readFroms)
			}
			c = newClient()
			w = newLoud(c)
			w.passes = true
			if err := write(w, "hello"); err != nil {
				t.Fatal(err)
			}
			if got := c.Body.String(); got != "hello" {
				t.Errorf("what passes untouched: got %q, want hello", got)
			}
		})
	}
}

var ways = map[string]func(w http.ResponseWriter, body string) error{
	"Write":       func(w http.ResponseWriter, body string) error { _, err := w.Write([]byte(body)); return err },
	"WriteString": func(w http.ResponseWriter, body string) error { _, err := io.WriteString(w, body); return err },
	"io.Copy": func(w http.ResponseWriter, body string) error {
		_, err := io.Copy(w, strings.NewReader(body))
		return err
	},
	"io.Copy without WriterTo": func(w http.ResponseWriter, body string) error {
		_, err := io.Copy(w, struct{ io.Reader }{strings.NewReader(body)})
		return err
	},
	"http.ServeContent": func(w http.ResponseWriter, body string) error {
		http.ServeContent(w, httptest.NewRequest(http.MethodGet, "/", nil), "x.txt", time.Time{}, strings.NewReader(body))
		return nil
	},
	"after flushing": func(w http.ResponseWriter, body string) error {
		if err := http.NewResponseController(w).Flush(); err != nil {
			return err
		}
		_, err := io.WriteString(w, body)
		return err
	},
}

func TestShortCut(t *testing.T) {
	c := newClient()
	w := newLoud(c)
	w.passes = true
	if _, err := io.Copy(w, struct{ io.Reader }{strings.NewReader("hello")}); err != nil || c.readFroms != 1 {
		t.Errorf("got %v, %d short cuts, want one", err, c.readFroms)
	}
}

func TestHeaders(t *testing.T) {
	for _, tt := range []struct {
		name         string
		codes        []int
		begun, wrote []int
	}{
		{"a final one", []int{404}, []int{404}, []int{404}},
		{"hints before", []int{103, 103, 200}, []int{200}, []int{103, 103, 200}},
		{"a second one", []int{200, 500}, []int{200}, []int{200}},
		{"hints behind", []int{200, 103}, []int{200}, []int{200}},
		{"another protocol", []int{101, 200}, []int{101}, []int{101}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient()
			w := newLoud(c)
			for _, code := range tt.codes {
				w.WriteHeader(code)
			}
			if !slices.Equal(w.codes, tt.begun) || !slices.Equal(c.codes, tt.wrote) {
				t.Errorf("begun with %v, wrote %v; want %v, %v", w.codes, c.codes, tt.begun, tt.wrote)
			}
		})
	}
}

func TestController(t *testing.T) {
	c := newClient()
	w := newLoud(c)
	rc := http.NewResponseController(w)
	if err := rc.Flush(); err != nil || !c.Flushed || len(w.codes) != 1 {
		t.Errorf("Flush: got %v, flushed %v, begun with %v", err, c.Flushed, w.codes)
	}
	if err := errors.Join(rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{}), rc.EnableFullDuplex()); err != nil || c.deadlines != 2 || !c.fullDuplex {
		t.Errorf("got %v, %d deadlines, full duplex %v", err, c.deadlines, c.fullDuplex)
	}
	if _, _, err := rc.Hijack(); !errors.Is(err, http.ErrNotSupported) {
		t.Errorf("Hijack: got %v, want %v", err, http.ErrNotSupported)
	}
	if _, _, err := w.Tunnel(); !errors.Is(err, errGone) {
		t.Errorf("Tunnel: got %v, want %v", err, errGone)
	}
	if _, ok := http.ResponseWriter(w).(interface{ Unwrap() http.ResponseWriter }); ok {
		t.Error("the writer can be unwrapped")
	}
}

func TestInstead(t *testing.T) {
	c := newClient()
	w := newLoud(c)
	h := w.Header()
	h.Set("Server", "Caddy")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Set-Cookie", "a=1")
	h.Set("Content-Encoding", "gzip")
	w.Instead(func(out http.ResponseWriter) {
		problem.Write(out, httptest.NewRequest(http.MethodGet, "/", nil), problem.Problem{Status: http.StatusBadGateway, Code: "no"})
	})
	w.WriteHeader(http.StatusOK)
	if c.Code != http.StatusBadGateway || !strings.Contains(c.Body.String(), `"code":"no"`) || len(w.codes) > 0 {
		t.Errorf("got %d %s, begun with %v", c.Code, c.Body, w.codes)
	}
	for name, want := range map[string]string{"Server": "Caddy", "Access-Control-Allow-Origin": "*", "Set-Cookie": "", "Content-Encoding": ""} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestForgive(t *testing.T) {
	thrown := func(p any) (got any) {
		defer func() { got = recover() }()
		respond.Forgive(p)
		return nil
	}
	for _, p := range []any{nil, http.ErrAbortHandler} {
		if got := thrown(p); got != nil {
			t.Errorf("%v: got %v, want no panic", p, got)
		}
	}
	if got := thrown("bug"); got != "bug" {
		t.Errorf("got %v, want bug", got)
	}
}
