package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/problem"
)

func TestWrite(t *testing.T) {
	tests := []struct {
		name string
		in   problem.Problem
		want problem.Problem
	}{
		{
			"defaults",
			problem.Problem{},
			problem.Problem{Type: "about:blank", Title: "Internal Server Error", Status: 500, Code: "internal_server_error"},
		},
		{
			"code made from the status",
			problem.Problem{Status: 404},
			problem.Problem{Type: "about:blank", Title: "Not Found", Status: 404, Code: "not_found"},
		},
		{
			"not an error status",
			problem.Problem{Status: 200, Code: "odd"},
			problem.Problem{Type: "about:blank", Title: "Internal Server Error", Status: 500, Code: "odd"},
		},
		{
			"all given",
			problem.Problem{Type: "urn:x", Title: "T", Status: 409, Detail: "d", Code: "c", RequestID: "id"},
			problem.Problem{Type: "urn:x", Title: "T", Status: 409, Detail: "d", Code: "c", RequestID: "id"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			problem.Write(w, httptest.NewRequest("GET", "/", nil), tt.in)
			var got problem.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("body (-want +got):\n%s", d)
			}
			if w.Code != tt.want.Status {
				t.Errorf("got status %d, want %d", w.Code, tt.want.Status)
			}
		})
	}
}

func TestWriteHeaders(t *testing.T) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Length", "7")
	w.Header().Set("ETag", `"x"`)
	w.Header().Set("WWW-Authenticate", "Bearer")
	problem.Write(w, httptest.NewRequest("GET", "/", nil), problem.Problem{Status: 401})
	want := http.Header{
		"Content-Type":           {"application/problem+json"},
		"Cache-Control":          {"no-store"},
		"X-Content-Type-Options": {"nosniff"},
		"Www-Authenticate":       {"Bearer"},
	}
	if d := cmp.Diff(want, w.Header()); d != "" {
		t.Errorf("headers (-want +got):\n%s", d)
	}
}

func TestRequestID(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "from-header")
	problem.Write(w, r, problem.Problem{Status: 404})
	if !strings.Contains(w.Body.String(), `"request_id":"from-header"`) {
		t.Errorf("got %s, want the response header's id", w.Body)
	}
	w = httptest.NewRecorder()
	problem.Write(w, r.WithContext(problem.WithRequestID(r.Context(), "from-context")), problem.Problem{Status: 404})
	if !strings.Contains(w.Body.String(), `"request_id":"from-context"`) {
		t.Errorf("got %s, want the context's id", w.Body)
	}
}

func TestHeadHasNoBody(t *testing.T) {
	w := httptest.NewRecorder()
	problem.Write(w, httptest.NewRequest("HEAD", "/", nil), problem.Problem{Status: 404})
	if w.Body.Len() > 0 {
		t.Errorf("got body %q", w.Body)
	}
}

func TestParse(t *testing.T) {
	w := httptest.NewRecorder()
	sent := problem.Problem{Type: "about:blank", Title: "Conflict", Status: 409, Detail: "busy", Code: "thread_busy"}
	problem.Write(w, httptest.NewRequest("GET", "/", nil), sent)
	got := problem.Parse(w.Result())
	if d := cmp.Diff(sent, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if err := fmt.Errorf("adding: %w", got); !problem.HasCode(err, "thread_busy") || problem.HasCode(err, "other") {
		t.Errorf("HasCode misreads %v", err)
	}
	if problem.HasCode(errors.New("x"), "x") {
		t.Error("a plain error has no code")
	}
	if got.Error() != "busy (thread_busy)" {
		t.Errorf("got %q", got.Error())
	}
}

func TestParseOther(t *testing.T) {
	for _, tt := range []struct{ media, body string }{
		{"text/html", "<h1>Bad gateway</h1>"},
		{"application/problem+json", `{"status":`},
		{"application/problem+json", `{}`},
		{"", ""},
	} {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", tt.media)
		w.WriteHeader(502)
		_, _ = w.WriteString(tt.body)
		if got := problem.Parse(w.Result()); got.Code != "unexpected_answer" || got.Status != 502 {
			t.Errorf("%s %q: got %+v", tt.media, tt.body, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		0: "1", time.Nanosecond: "1", time.Second: "1", time.Second + 1: "2", 15 * time.Minute: "900",
	} {
		h := http.Header{}
		problem.RetryAfter(h, wait)
		if got := h.Get("Retry-After"); got != want {
			t.Errorf("%s: got %q, want %q", wait, got, want)
		}
	}
}
