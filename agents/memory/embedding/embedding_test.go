package embedding_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/memory/embedding"
)

func TestEmbed(t *testing.T) {
	var asked map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer key-of-the-server" {
			t.Errorf("got %s with %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, `{"object":"list","data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"usage":{}}`)
	}))
	defer server.Close()
	c := embedding.New(embedding.Config{URL: server.URL + "/v1/", Model: "m", Key: "key-of-the-server"})
	got, err := c.Embed(t.Context(), []string{"one", "two"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{0.6, 0.8}, {0, 1}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"model": "m", "input": []any{"one", "two"}, "encoding_format": "float"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestBadServers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server was asked, with %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
	}
	for _, tc := range []struct {
		name string
		http.HandlerFunc
		want string
	}{
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, "status 307"},
		{"an error with the key in it", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization"), http.StatusUnauthorized)
		}, "status 401"},
		{"no JSON", text("<html>"), "not the JSON"},
		{"one vector of two", text(`{"data":[{"index":0,"embedding":[1]}]}`), "text 1 has no vector"},
		{"a vector twice", text(`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`), "no text 0"},
		{"a vector too many", text(`{"data":[{"index":7,"embedding":[1]}]}`), "no text 7"},
		{"different lengths", text(`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`), "text 1 has no vector"},
		{"no numbers", text(`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[1]}]}`), "0 numbers"},
		{"nothing but zeros", text(`{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[1,0]}]}`), "no direction"},
		{"a flood", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[`)
			for range 3 << 20 {
				if _, err := io.WriteString(w, "1.12345,"); err != nil {
					return
				}
			}
		}, "too large"},
		{"one that hangs", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then the end of the connection is seen
			<-r.Context().Done()
		}, "deadline"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(tc.HandlerFunc)
			defer server.Close()
			timeout := 10 * time.Second
			if tc.name == "one that hangs" {
				timeout = 50 * time.Millisecond
			}
			_, err := embedding.New(embedding.Config{URL: server.URL, Model: "m", Key: "key-of-the-server", Timeout: timeout}).Embed(t.Context(), []string{"a", "b"})
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(fmt.Sprint(err), "key-of") {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

// Vectors of another server are not compared, even where its model has the same name.
func TestName(t *testing.T) {
	name := func(url string) string { return embedding.New(embedding.Config{URL: url, Model: "m"}).Name() }
	if a, b := name("http://one.example/v1"), name("http://two.example/v1"); a == b {
		t.Errorf("two servers are called %s", a)
	}
	if a, b := name("http://one.example/v1"), name("http://one.example/v1/"); a != b || !strings.HasPrefix(a, "m@") {
		t.Errorf("one server is called %s and %s", a, b)
	}
}
