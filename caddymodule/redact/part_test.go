package redact_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A part of a text could begin in the middle of a secret: the whole of it is sent. Parts of what passes
// untouched are sent as they are.
func TestParts(t *testing.T) {
	film := strings.Repeat("0123456789", 20_000)
	text := "password: hunter2tiger\n" + strings.Repeat("all is well\n", 20_000)
	redacted := strings.ReplaceAll(text, "hunter2tiger", "REDACTED")
	var asked []string
	srv := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.Header.Get("Range")+r.Header.Get("If-Range"))
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Set-Cookie", fmt.Sprint("asked=", len(asked)))
		http.ServeContent(w, r, r.URL.Path, time.Unix(1e9, 0), strings.NewReader(map[string]string{"/film.mp4": film, "/text.txt": text}[r.URL.Path]))
	})
	for name, tc := range map[string]struct {
		path   string
		header []string
		code   int
		body   string
		asked  []string
	}{
		"a part of a film":          {"/film.mp4", []string{"Range", "bytes=5-14"}, 206, "5678901234", []string{"/film.mp4 bytes=5-14"}},
		"the rest of a film":        {"/film.mp4", []string{"Range", "bytes=199990-", "If-Range", `"1"`}, 206, "0123456789", []string{`/film.mp4 bytes=199990-"1"`}},
		"of a film that is another": {"/film.mp4", []string{"Range", "bytes=5-14", "If-Range", `"2"`}, 200, film, []string{`/film.mp4 bytes=5-14"2"`}},
		"beyond a film":             {"/film.mp4", []string{"Range", "bytes=900000-"}, 416, "", []string{"/film.mp4 bytes=900000-"}},
		"a part of a text":          {"/text.txt", []string{"Range", "bytes=12-20"}, 200, redacted, []string{"/text.txt bytes=12-20", "/text.txt "}},
		"several parts":             {"/film.mp4", []string{"Range", "bytes=0-1,4-5"}, 200, film, []string{"/film.mp4 bytes=0-1,4-5", "/film.mp4 "}},
		"of a text, a big one":      {"/text.txt", []string{"Range", "bytes=1-"}, 200, redacted, []string{"/text.txt bytes=1-", "/text.txt "}},
	} {
		t.Run(name, func(t *testing.T) {
			asked = nil
			resp, got := srv.Do(http.MethodGet, tc.path, "", tc.header...)
			if resp.StatusCode != tc.code || tc.body != "" && got != tc.body {
				t.Errorf("got %s, %d bytes %.40q; want %d, %d bytes", resp.Status, len(got), got, tc.code, len(tc.body))
			}
			if strings.Join(asked, "|") != strings.Join(tc.asked, "|") {
				t.Errorf("asked for %q, want %q", asked, tc.asked)
			}
			if cookies := resp.Header.Values("Set-Cookie"); len(cookies) != 1 || cookies[0] != fmt.Sprint("asked=", len(tc.asked)) {
				t.Errorf("got the cookies %q", cookies)
			}
		})
	}
}
