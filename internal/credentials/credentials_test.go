package credentials_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/credentials"
)

func TestFrom(t *testing.T) {
	for _, tt := range []struct {
		name, header, value string
		want                []string
	}{
		{"bearer", "Authorization", "Bearer abc123", []string{"abc123"}},
		{"basic", "Authorization", "Basic Ym9iOmh1bnRlcjI6eA==", []string{"Ym9iOmh1bnRlcjI6eA==", "hunter2:x"}},
		{"no scheme", "Authorization", "abc123", []string{"abc123"}},
		{"parameters", "Authorization", `Digest username="bob", nonce="x"`, nil},
		{"key", "X-Api-Key", "abc123", []string{"abc123"}},
		{"cookies", "Cookie", `theme=dark; svc_token="t1"; PHPSESSID=s1`, []string{"t1", "s1"}},
		{"nothing", "Accept", "*/*", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set(tt.header, tt.value)
			if d := cmp.Diff(tt.want, credentials.From(r)); d != "" {
				t.Errorf("as it came (-want +got):\n%s", d)
			}
			r = r.WithContext(credentials.Note(r.Context(), r.Header))
			r.Header.Del(tt.header)
			if d := cmp.Diff(tt.want, credentials.From(r)); d != "" {
				t.Errorf("after it was removed (-want +got):\n%s", d)
			}
		})
	}
}

// Two stages may note the same request.
func TestNoteTwice(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-Api-Key", "abc123")
	r = r.WithContext(credentials.Note(r.Context(), r.Header))
	r.Header.Set("X-Api-Key", "def456")
	r = r.WithContext(credentials.Note(r.Context(), r.Header))
	if d := cmp.Diff([]string{"abc123", "def456"}, credentials.From(r)[:2]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestKeyed(t *testing.T) {
	for name, want := range map[string]bool{"X-Api-Key": true, "Authorization": false} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set(name, "Bearer svc_1")
		here := credentials.Keyed(r)
		r = r.WithContext(credentials.Note(r.Context(), r.Header))
		r.Header.Del(name)
		if later := credentials.Keyed(r); here != want || later != want {
			t.Errorf("%s: got %t, and %t when it was taken out; want %t", name, here, later, want)
		}
	}
}
