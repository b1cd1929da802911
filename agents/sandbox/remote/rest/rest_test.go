package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func client(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := New(Config{Provider: "daytona", URL: s.URL + "/api/", Key: "secret-key", Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestAddresses(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://app.daytona.io/api": true, "http://127.0.0.1:1": true, "http://[::1]:1/x": true, "http://localhost": true,
		"http://example.com": false, "http://127.0.0.1.example.com": false, "ftp://127.0.0.1": false, "": false, "example.com": false,
	} {
		if _, err := New(Config{Provider: "daytona", URL: url}); (err == nil) != ok {
			t.Errorf("%q: got %v", url, err)
		} else if err != nil && !strings.HasPrefix(err.Error(), "sandbox.daytona_url: ") {
			t.Errorf("%q: the error names no setting: %v", url, err)
		}
	}
	far, err := New(Config{Provider: "daytona", URL: "https://app.daytona.io/api"})
	if err != nil {
		t.Fatal(err)
	}
	near, err := New(Config{Provider: "daytona", URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		url       string
		far, near bool
	}{
		{"https://proxy.app.daytona.io/toolbox", true, true},
		{"http://127.0.0.1:2/toolbox", false, true}, // somebody far away does not send the key to this host
		{"https://localhost/toolbox", false, true},
		{"http://proxy.example.com", false, false},
		{"https://user@proxy.example.com", false, false},
		{"", false, false},
	} {
		if _, err := far.Trusts(tc.url); (err == nil) != tc.far {
			t.Errorf("%q from far: got %v", tc.url, err)
		}
		if _, err := near.Trusts(tc.url); (err == nil) != tc.near {
			t.Errorf("%q from near: got %v", tc.url, err)
		}
	}
}

// A redirect is not followed, with or without the key.
func TestRedirect(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	c := client(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	_, err := c.Do(t.Context(), Call{What: "asking", Method: http.MethodGet, Path: "/x", Again: true})
	if err == nil || !strings.Contains(err.Error(), "daytona: asking: the server answers with a redirect, which is not followed") || reached.Load() {
		t.Errorf("got %v", err)
	}
}

func TestRepeats(t *testing.T) {
	cut := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	status := func(code int, after string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(code)
		}
	}
	for _, tc := range []struct {
		name  string
		again bool
		fault func(http.ResponseWriter)
		want  int32 // requests
		lost  bool
	}{
		{"a lost GET", true, cut, 3, false},
		{"a lost POST", false, cut, 1, true},
		{"a broken GET", true, status(502, ""), 3, false},
		{"a broken POST", false, status(502, ""), 1, true},
		{"a POST too many", false, status(429, ""), 3, false},
		{"a POST too many, and when", false, status(429, "0.01"), 3, false},
		{"a refused GET", true, status(403, ""), 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var n atomic.Int32
			c := client(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body) != `{"a":1}` || r.Header.Get("Authorization") != "Bearer secret-key" || r.URL.Path != "/api/x" {
					t.Errorf("got %s %q, %v", r.URL.Path, body, err)
				}
				if n.Add(1) < 3 {
					tc.fault(w)
					return
				}
				_, _ = w.Write([]byte(`{"ok":true}`))
			})
			err := c.JSON(t.Context(), Call{What: "asking", Method: http.MethodPost, Path: "/x", Again: tc.again}, map[string]int{"a": 1}, nil)
			if got := n.Load(); got != tc.want || (err == nil) != (tc.want == 3) {
				t.Errorf("got %d requests, %v", got, err)
			}
			l, ok := errors.AsType[interface {
				error
				Lost() bool
			}](err)
			if (ok && l.Lost()) != tc.lost {
				t.Errorf("lost: got %v", err)
			}
		})
	}
}

// A server cannot make a call last longer than its time.
func TestRetryAfterIsBounded(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	start := time.Now()
	_, err := c.Do(ctx, Call{What: "asking", Method: http.MethodGet, Path: "/x"})
	if err == nil || !strings.Contains(err.Error(), "before it may be repeated (in 1m0s)") || time.Since(start) > 4*time.Second {
		t.Errorf("got %v after %s", err, time.Since(start))
	}
	if d := retryAfter(time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)); d < 80*time.Second || d > 90*time.Second {
		t.Errorf("got %s", d)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1001)) })
	for limit, ok := range map[int64]bool{1000: false, 1001: true} {
		answer, err := c.Do(t.Context(), Call{What: "asking", Method: http.MethodGet, Path: "/x", Limit: limit})
		if (err == nil) != ok || err == nil && len(answer) != 1001 {
			t.Errorf("%d: got %d bytes, %v", limit, len(answer), err)
		}
	}
}

// What a server writes is for the log, without the key, wherever it is cut.
func TestErrorsTellNothingOfTheServer(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"message":"` + strings.Repeat("x", 1018) + `secret-key is wrong"}`))
	})
	_, err := c.Do(t.Context(), Call{What: "asking", Method: http.MethodGet, Path: "/x"})
	s, ok := errors.AsType[*StatusError](err)
	if !ok || strings.Contains(err.Error(), "xxx") || !strings.Contains(err.Error(), "does sandbox.daytona_key allow this?") {
		t.Fatalf("got %v", err)
	}
	if says := s.Says(); !strings.Contains(says, "xxx") || strings.Contains(says, "secr") || len(says) > 1024 {
		t.Errorf("got %q", says)
	}
}

// A file is written anew for each attempt.
func TestUploadIsRepeated(t *testing.T) {
	var n atomic.Int32
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if r.URL.Path == "/api/fails" {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		content, err := io.ReadAll(file)
		if err != nil || string(content) != "content" || r.FormValue("path") != "/tmp/x" {
			t.Errorf("got %q, %v", content, err)
		}
		if n.Add(1) == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	body, contentType := Upload("x", func(w io.Writer) error { _, err := io.WriteString(w, "content"); return err }, map[string]string{"path": "/tmp/x"})
	if _, err := c.Do(t.Context(), Call{What: "sending", Method: http.MethodPost, Path: "/x", Body: body, Type: contentType}); err != nil || n.Load() != 2 {
		t.Errorf("got %d, %v", n.Load(), err)
	}
	failing, contentType := Upload("x", func(io.Writer) error { return errors.New("it has become shorter") }, nil)
	if _, err := c.Do(t.Context(), Call{What: "sending", Method: http.MethodPost, Path: "/fails", Body: failing, Type: contentType}); err == nil || !strings.Contains(err.Error(), "it has become shorter") {
		t.Errorf("got %v", err)
	}
}
