package redact

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/scanner/redact"
)

func run(h *Handler, next caddyhttp.HandlerFunc) (*httptest.ResponseRecorder, error) {
	h.logger, h.known = zap.NewNop(), new(secrets)
	rec := httptest.NewRecorder()
	err := h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil), next)
	return rec, err
}

const leak = "x password: hunter2tiger y\n"

// TestNoWayAround holds that every way to write goes through the redactor.
func TestNoWayAround(t *testing.T) {
	for name, write := range map[string]func(w http.ResponseWriter) error{
		"Write":       func(w http.ResponseWriter) error { _, err := w.Write([]byte(leak)); return err },
		"WriteString": func(w http.ResponseWriter) error { _, err := io.WriteString(w, leak); return err },
		"io.Copy":     func(w http.ResponseWriter) error { _, err := io.Copy(w, strings.NewReader(leak)); return err },
		"io.Copy without WriterTo": func(w http.ResponseWriter) error {
			_, err := io.Copy(w, struct{ io.Reader }{strings.NewReader(leak)})
			return err
		},
		"ReadFrom": func(w http.ResponseWriter) error {
			_, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader(leak))
			return err
		},
		"http.ServeContent": func(w http.ResponseWriter) error {
			http.ServeContent(w, httptest.NewRequest(http.MethodGet, "/", nil), "x.txt", time.Time{}, strings.NewReader(leak))
			return nil
		},
		"byte by byte, flushed": func(w http.ResponseWriter) error {
			for i := range leak {
				if _, err := w.Write([]byte{leak[i]}); err != nil {
					return err
				}
				if err := http.NewResponseController(w).Flush(); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := run(new(Handler), func(w http.ResponseWriter, _ *http.Request) error { return write(w) })
			if got, want := rec.Body.String(), "x password: REDACTED y\n"; got != want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestNoUnwrap(t *testing.T) {
	_, err := run(new(Handler), func(w http.ResponseWriter, _ *http.Request) error {
		if _, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
			t.Error("the writer can be unwrapped")
		}
		if _, _, err := http.NewResponseController(w).Hijack(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("Hijack: got %v, want %v", err, http.ErrNotSupported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPanic holds that a handler that panics leaves no more than was certain, and that the panic goes on.
func TestPanic(t *testing.T) {
	h := &Handler{logger: zap.NewNop(), known: new(secrets)}
	rec := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != "bug" || strings.Contains(rec.Body.String(), "hunter") {
			t.Errorf("got %v, %q", p, rec.Body)
		}
	}()
	_ = h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil), caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		io.WriteString(w, "the password: hunter2t")
		panic("bug")
	}))
}

// TestPanicAfterRefusal holds that a client that has its answer does not notice how the handler takes it.
func TestPanicAfterRefusal(t *testing.T) {
	rec, err := run(new(Handler), func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Encoding", "gzip")
		if _, err := io.WriteString(w, leak); !errors.Is(err, errRefused) {
			t.Errorf("got %v, want %v", err, errRefused)
		}
		panic(http.ErrAbortHandler)
	})
	if err != nil || rec.Code != http.StatusBadGateway {
		t.Errorf("got %v, %d", err, rec.Code)
	}
}

func TestErrorBeforeTheHeader(t *testing.T) {
	boom := errors.New("boom")
	rec, err := run(new(Handler), func(http.ResponseWriter, *http.Request) error { return boom })
	if !errors.Is(err, boom) || rec.Body.Len() > 0 {
		t.Errorf("got %v, %q", err, rec.Body)
	}
}

func TestErrorInTheMiddle(t *testing.T) {
	boom := errors.New("boom")
	rec, err := run(new(Handler), func(w http.ResponseWriter, _ *http.Request) error {
		io.WriteString(w, "password: hunter2t")
		return boom
	})
	if !errors.Is(err, boom) || strings.Contains(rec.Body.String(), "hunter") {
		t.Errorf("got %v, %q", err, rec.Body)
	}
}

// TestBrokenTransformer holds that nothing comes out after the redactor itself has failed.
func TestBrokenTransformer(t *testing.T) {
	rec := httptest.NewRecorder()
	w := newWriter(rec, httptest.NewRequest(http.MethodGet, "/", nil), new(Handler), nil)
	w.Imply()
	w.body = broken{redact.NewTextStream()}
	func() {
		defer func() { _ = recover() }()
		w.Write([]byte(leak))
	}()
	w.close()
	if _, err := w.Write([]byte(leak)); !errors.Is(err, errBroken) || rec.Body.Len() > 0 {
		t.Errorf("got %v, %q", err, rec.Body)
	}
}

type broken struct{ redact.Stream }

func (broken) Append([]byte, []byte) []byte { panic("bug") }

// FuzzSplit holds that the cut of the writes does not matter, and that redacting twice changes
// nothing.
func FuzzSplit(f *testing.F) {
	for _, body := range []string{leak, `{"password":"hunter2"}`, "data: {\"content\":\"password: x\"}\n\n", "\xff\xfe", "  \n{", "\xef\xbb\xbf{\"a\":\"password: x\"}", "\x1e{\"password\":\"x\"}\n\x1e1\n"} {
		for kind := range 6 {
			f.Add([]byte(body), uint8(kind), uint16(7))
		}
	}
	types := []string{"text/plain", "application/json", "text/event-stream", "", "application/json-seq", "application/x-ndjson"}
	f.Fuzz(func(t *testing.T, body []byte, kind uint8, cut uint16) {
		through := func(parts ...[]byte) []byte {
			rec, _ := run(new(Handler), func(w http.ResponseWriter, _ *http.Request) error {
				if ct := types[int(kind)%len(types)]; ct != "" {
					w.Header().Set("Content-Type", ct)
				}
				for _, p := range parts {
					if _, err := w.Write(p); err != nil {
						return err
					}
				}
				return nil
			})
			return rec.Body.Bytes()
		}
		at := int(cut) % (len(body) + 1)
		whole, split := through(body), through(body[:at], body[at:])
		if !bytes.Equal(whole, split) {
			t.Errorf("cut at %d: got %q, want %q", at, split, whole)
		}
		// A stream that ends inside a secret gets an event or a line for the rest, a second time too.
		streams := []string{"text/event-stream", "application/x-ndjson"}
		if again := through(whole); !slices.Contains(streams, types[int(kind)%len(types)]) && !bytes.Equal(again, whole) {
			t.Errorf("twice: got %q, want %q", again, whole)
		}
	})
}
