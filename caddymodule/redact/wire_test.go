package redact_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/scanner/redact/wiretest"
)

// TestWire sends streams of all kinds through the stage, some of them compressed, and holds that no
// secret comes out and no event is lost.
func TestWire(t *testing.T) {
	var s *wiretest.Stream
	var encoding string
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", s.ContentType)
		var out io.Writer = w
		if encoding != "" {
			if encoding != "unsaid" {
				w.Header().Set("Content-Encoding", encoding)
			}
			z := gzip.NewWriter(w)
			defer z.Close()
			out = z
		}
		for _, e := range s.Events {
			io.WriteString(out, e)
			http.NewResponseController(w).Flush()
		}
	})
	for i := range 300 {
		choose := rand.New(rand.NewPCG(uint64(i), 7)).IntN
		s, encoding = wiretest.New(choose), ""
		if i%10 == 0 {
			encoding = []string{"gzip", "unsaid"}[i/10%2]
		}
		resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
		var body []byte
		if err == nil {
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if encoding != "" {
			if err == nil && resp.StatusCode == http.StatusOK || bytes.HasPrefix(body, []byte("\x1f\x8b")) {
				t.Errorf("%s, compressed (%s): got %d bytes, %v", s.Name, encoding, len(body), err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		text, n, err := s.Read(string(body))
		if err == nil {
			text, err = s.Inner(text)
		}
		if err != nil || n != len(s.Events) || s.Hidden != "" && (strings.Contains(text, s.Hidden) || bytes.Contains(body, []byte(s.Hidden))) {
			t.Errorf("%s: got %d of %d events, %v: %s", s.Name, n, len(s.Events), err, body)
		}
	}
}
