package scan

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/turns"
	"github.com/svc-gateway/svc/internal/websocket"
)

// occupy makes one place for scanning, which is taken, and returns what gives it back.
func occupy(t *testing.T) (give func()) {
	t.Helper()
	was := processors
	processors = turns.New(1)
	t.Cleanup(func() { processors = was })
	turn := processors.Join("somebody")
	if err := turn.Take(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	return func() { turn.Give() }
}

func waiting(wait time.Duration, sides ...string) *Handler {
	h := &Handler{
		Actions: map[string]string{anyCategory: actionBlock}, Bodies: sides, MaxWait: caddy.Duration(wait),
		logger: zap.NewNop(), audit: noAudit{}, fields: &everything,
	}
	h.defaults(4 << 20)
	return h
}

func post(ctx context.Context, size int) *http.Request {
	return httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(strings.Repeat("All is well. ", size/13)))
}

// reads is a handler that reads its request and answers.
var reads = caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	_, err := io.WriteString(w, "fine")
	return err
})

// TestBusy holds that a body that waits too long is refused with a time to try again, never passed.
func TestBusy(t *testing.T) {
	give := occupy(t)
	h := waiting(time.Millisecond, "request", "response")
	for _, size := range []int{100 << 10, 3 << 20} { // scanned before and while it is read
		rec := httptest.NewRecorder()
		if err := h.ServeHTTP(rec, post(t.Context(), size), reads); err != nil {
			t.Fatal(err)
		}
		after, _ := strconv.Atoi(rec.Header().Get("Retry-After"))
		if rec.Code != http.StatusServiceUnavailable || after < 1 || !strings.Contains(rec.Body.String(), `"code":"scan_busy"`) {
			t.Errorf("request of %d bytes: got %d %v %s", size, rec.Code, rec.Header(), rec.Body)
		}
	}
	rec := httptest.NewRecorder()
	err := h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil), caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		_, err := io.WriteString(w, strings.Repeat("All is well. ", 10_000))
		return err
	}))
	if err != nil || rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" {
		t.Errorf("response: got %v, %d %s", err, rec.Code, rec.Body)
	}
	small := httptest.NewRecorder()
	if err := h.ServeHTTP(small, post(t.Context(), 10<<10), reads); err != nil || small.Code != http.StatusOK {
		t.Errorf("a small one: got %v, %d %s", err, small.Code, small.Body)
	}
	give()
	rec = httptest.NewRecorder()
	if err := h.ServeHTTP(rec, post(t.Context(), 100<<10), reads); err != nil || rec.Code != http.StatusOK {
		t.Errorf("afterwards: got %v, %d %s", err, rec.Code, rec.Body)
	}
}

// TestBusyAndGone holds that who is gone waits no longer.
func TestBusyAndGone(t *testing.T) {
	occupy(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec := httptest.NewRecorder()
	if err := waiting(time.Hour, "request").ServeHTTP(rec, post(ctx, 100<<10), reads); err != nil || rec.Code == http.StatusOK {
		t.Errorf("got %v, %d", err, rec.Code)
	}
}

// TestWaits holds that a body that waits passes when it is its turn, and gives its place back.
func TestWaits(t *testing.T) {
	give := occupy(t)
	time.AfterFunc(time.Millisecond, give)
	for range 2 {
		rec := httptest.NewRecorder()
		if err := waiting(time.Minute, "request").ServeHTTP(rec, post(t.Context(), 2<<20), reads); err != nil || rec.Code != http.StatusOK {
			t.Errorf("got %v, %d %s", err, rec.Code, rec.Body)
		}
	}
}

// TestFrames holds that calls of gRPC whose sides take turns do not wait for one another, have no end
// that is near, and are scanned.
func TestFrames(t *testing.T) {
	const frame = "\x00\x00\x00\x00\x04\x0a\x02hi"
	up, in := io.Pipe()
	defer in.Close()
	r := httptest.NewRequest(http.MethodPost, "/", up)
	r.Header.Set("Content-Type", "application/grpc+proto")
	h := waiting(time.Second, "request", "response")
	h.MaxBody, h.MaxScan = 100, 50
	rec := httptest.NewRecorder()
	var got []string
	err := h.ServeHTTP(rec, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Type", "application/grpc")
		buf := make([]byte, 1<<10)
		for i := range 30 {
			if err := http.NewResponseController(w).Flush(); err != nil || !rec.Flushed {
				t.Errorf("not flushed: %v", err)
			}
			go func() { _, _ = io.WriteString(in, frame) }()
			n, err := r.Body.Read(buf)
			if err != nil {
				return err
			}
			got = append(got, string(buf[:n]))
			if _, err := io.WriteString(w, frame); err != nil || rec.Body.Len() != (i+1)*len(frame) {
				t.Errorf("held: %v, %d bytes", err, rec.Body.Len())
			}
		}
		go func() {
			_, _ = io.WriteString(in, "\x00\x00\x00\x00\x42\x0a\x40"+attack[:30])
			_, _ = io.WriteString(in, attack[30:])
		}()
		for {
			if _, err := r.Body.Read(buf); err != nil {
				return err
			}
		}
	}))
	if len(got) != 30 || got[29] != frame {
		t.Errorf("got %q", got)
	}
	if problemOf(err).Status != http.StatusUnprocessableEntity && rec.Body.Len() == 30*len(frame) {
		t.Errorf("an attack: got %v, %d", err, rec.Code)
	}
}

// TestBusySocket holds that messages of a WebSocket take turns with bodies, many small ones too, and that
// one which waits too long ends it.
func TestBusySocket(t *testing.T) {
	give := occupy(t)
	message := func(size int) []byte {
		head := []byte{0x81, 126, byte(size >> 8), byte(size)}
		return append(head, strings.Repeat("All is well. ", size/13+1)[:size]...)
	}
	open := func() *talk {
		h := waiting(time.Millisecond, "request")
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		return h.tunnel(httptest.NewRecorder(), r, new(asker), []side{request}).talk(request)
	}
	for _, size := range []int{200, 60_000} {
		d := open()
		var err error
		for n := 0; n < 1000 && err == nil; n++ {
			_, err = d.frames.Append(nil, message(size))
		}
		if end, ok := errors.AsType[*websocket.End](err); !ok || end.Code != websocket.CodeTryAgain || end.Reason != "scan_busy" {
			t.Errorf("of %d bytes each: got %v", size, err)
		}
	}
	give()
	d := open()
	for range 20 {
		if _, err := d.frames.Append(nil, message(60_000)); err != nil {
			t.Error(err)
		}
	}
	if d.report.pace.used > 0 {
		t.Error("the place is not given back")
	}
}
