package redact_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A line or an event that waits for the letters that begin a token, here that of the request, goes on though
// nothing follows. If they do begin it, the rest goes.
func TestPauses(t *testing.T) {
	const token = "svc_5IqHeaizbFfXD7U95qV2nzP6mNtFBu2RG0SRyjKq3422YFNvg"
	for _, tt := range []struct{ name, contentType, first, second, want string }{
		{"events", "text/event-stream", "data: {\"text\":\"3 files\"}\n\n", "data: {\"text\":\" and more\"}\n\n", "data: {\"text\":\" and more\"}\n\n"},
		{"events of text", "text/event-stream", "data: 3 files\n\n", "data:  and more\n\n", "data:  and more\n\n"},
		{"the watch of a cluster", "application/json;stream=watch", "{\"type\":\"ADDED\",\"uid\":\"6b679e5fd2bc\"}\n", "{\"type\":\"ADDED\",\"uid\":\"6b679e5fd2bd\"}\n", "{\"type\":\"ADDED\",\"uid\":\"6b679e5fd2bd\"}\n"},
		{"lines", "application/x-ndjson", "{\"text\":\"it is s\"}\n", "{\"text\":\"" + token[1:] + " x\"}\n", "{\"text\":\"REDACTED x\"}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read := make(chan struct{})
			srv := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tt.contentType)
				io.WriteString(w, tt.first)
				http.NewResponseController(w).Flush()
				select {
				case <-read:
				case <-r.Context().Done():
				}
				io.WriteString(w, tt.second)
			})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body := bufio.NewReader(resp.Body)
			first := make([]byte, len(tt.first))
			if _, err := io.ReadFull(body, first); err != nil || string(first) != tt.first {
				t.Fatalf("got %q, %v; want %q before anything else comes", first, err, tt.first)
			}
			close(read)
			rest, err := io.ReadAll(body)
			if got := string(rest); err != nil || got != tt.want || strings.Contains(got, token[3:]) {
				t.Errorf("then got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
