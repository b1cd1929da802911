package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a keepalive sets free, and what comes of it.
func TestKeepalivesSetFree(t *testing.T) {
	const token = "svc_5IqHeaizbFfXD7U95qV2nzP6mNtFBu2RG0SRyjKq3422YFNvg"
	for _, tt := range []struct {
		name, first, after string // what is out after a keepalive
		next, then         string
	}{
		{"the beginning of a known secret", "3 files", "3 files", " and more", " and more"},
		{"a known secret", "it is sv", "it is sv", strings.TrimPrefix(token, "sv") + " x", "REDACTED x"},
		{"a known secret in three pieces", "it is s", "it is s", "vc_5IqHeaizb", ""},
		{"the prefix of a vendor", "the s", "the s", "k-proj-Zq8nH2kLx0vB4mT7yR1wE5uI9oP3aS6dF8gJ2hK4lX7cV0bN1mQ x", "REDACTED x"},
		{"a letter that begins again", "is ss", "is ss", strings.TrimPrefix(token, "s") + " x", "REDACTED x"},
		{"more than a few letters", "it is svc_", "", "olumn", "olumn"},
		{"a secret of which the end is not known", "password is hun", "", "ter2 x", "REDACTED x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, form := range []string{"data: {\"content\":%}\n\n", "data: [%]\n\n", "event: log\ndata: % \n\n"} {
				event := func(text string) string {
					if quoted, _ := json.Marshal(text); strings.Contains(form, "{") || strings.Contains(form, "[") {
						return strings.Replace(form, "%", string(quoted), 1)
					}
					return strings.Replace(form, "% ", text, 1)
				}
				for _, keepalive := range []string{"\n", ": hb\n", ": ping\n\n", "\r\n"} {
					r := knowing(t, token).EventStream()
					_ = r.Append(nil, []byte(event("this is what was found:"))) // now the shape is known
					out := string(r.Append(nil, []byte(event(tt.first))))
					if out != "" {
						t.Fatalf("%q did not wait", out)
					}
					want := keepalive
					if tt.after != "" {
						want = event(tt.after) + keepalive
					}
					if out = string(r.Append(nil, []byte(keepalive))); out != want {
						t.Errorf("after a keepalive: got %q, want %q", out, want)
					}
					if tt.after == "" {
						continue
					}
					if out = string(r.Append(nil, []byte(event(tt.next)+event(" ")))); tt.then != "" && out != event(tt.then)+event(" ") {
						t.Errorf("then: got %q, want %q", out, event(tt.then))
					}
				}
			}
		})
	}
}

// With a keepalive behind each event no secret is seen but for its first letters, and nothing else changes.
func FuzzIdle(f *testing.F) {
	for _, s := range seeds() {
		f.Add("tiger-lion-42", s, []byte{3}, []byte{7})
	}
	f.Add("tiger-lion-42", "a tiger-lion-42 and ti and dGlnZXItbGlvbi00Mg== tttiger-lion-42", []byte{0, 1}, []byte{0})
	f.Fuzz(func(t *testing.T, secret, text string, pieces, cuts []byte) {
		s := NewSecrets()
		if s.Register(secret) != nil || strings.Contains(Mark, secret) {
			return
		}
		text = "This is what was found on the host: " + strings.ToValidUTF8(text, "?")
		var plain, idle strings.Builder
		for i, rest := 0, text; rest != ""; i++ {
			n := len(text)
			if len(pieces) > 0 {
				n = int(pieces[i%len(pieces)])%23 + 1
			}
			n = runes(rest, n)
			data, _ := json.Marshal(map[string]string{"content": rest[:n]})
			plain.WriteString("data: " + string(data) + "\n\n")
			idle.WriteString("data: " + string(data) + "\n\n: hb\n")
			rest = rest[n:]
		}
		whole := split(s.EventStream(), idle.String(), []byte{16})
		if got := split(s.EventStream(), idle.String(), cuts); got != whole {
			t.Fatalf("secret %q, %q cut by %v:\n got %q\nwant %q", secret, idle.String(), cuts, got, whole)
		}
		want, _ := contents(t, split(s.EventStream(), plain.String(), nil))
		got, _ := contents(t, whole)
		if !spared(got, want) {
			t.Fatalf("secret %q in %q:\n got %q\nwant %q", secret, idle.String(), got, want)
		}
	})
}

// runes returns how much of s is n bytes and the rest of a rune.
func runes(s string, n int) int {
	n = min(n, len(s))
	for n < len(s) && s[n]&0xc0 == 0x80 {
		n++
	}
	return n
}

// spared reports whether got is want with a few letters before each mark.
func spared(got, want string) bool {
	for _, part := range strings.SplitAfter(want, Mark) {
		clean, marked := strings.CutSuffix(part, Mark)
		rest, ok := strings.CutPrefix(got, clean)
		if !ok {
			return false
		}
		if got = rest; marked {
			at := strings.Index(got, Mark)
			if at < 0 || at > maxSpared {
				return false
			}
			got = got[at+len(Mark):]
		}
	}
	return got == ""
}
