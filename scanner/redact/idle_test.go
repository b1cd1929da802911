package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// What goes on where nothing follows for a while, and what comes of it.
func TestIdle(t *testing.T) {
	const token = "svc_5IqHeaizbFfXD7U95qV2nzP6mNtFBu2RG0SRyjKq3422YFNvg"
	for _, tt := range []struct {
		name, first, after string // after is out after a pause
		next, then         string
	}{
		{"the beginning of a known secret", "3 files", "3 files", " and more", " and more"},
		{"a known secret", "it is sv", "it is sv", strings.TrimPrefix(token, "sv") + " x", "REDACTED x"},
		{"a letter that begins again", "is ss", "is ss", strings.TrimPrefix(token, "s") + " x", "REDACTED x"},
		{"the prefix of a vendor", "the s", "the s", "k-proj-Zq8nH2kLx0vB4mT7yR1wE5uI9oP3aS6dF8gJ2hK4lX7cV0bN1mQ x", "REDACTED x"},
		{"more than a few letters", "it is svc_", "", "olumn", "olumn"},
		{"a secret of which the end is not known", "password is hun", "", "ter2 x", "REDACTED x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, form := range []string{"data: {\"content\":%}\n\n", "data: [%]\r\n\r\n", "event: log\ndata: %\n\n", "{\"content\":%}\n"} {
				event := func(text string) string {
					if strings.ContainsAny(form, "{[") {
						quoted, _ := json.Marshal(text)
						text = string(quoted)
					}
					return strings.Replace(form, "%", text, 1)
				}
				var r Idler = knowing(t, token).EventStream()
				if form[0] == '{' {
					r = knowing(t, token).LineStream()
				}
				_ = r.Append(nil, []byte(event("this is what was found:"))) // now the shape is known
				if out := string(r.Append(nil, []byte(event(tt.first)))); out != "" || !r.Waits() {
					t.Fatalf("%q did not wait", out)
				}
				want := ""
				if tt.after != "" {
					want = event(tt.after)
				}
				if out := string(r.Idle(nil)); out != want || r.Waits() != (want == "") {
					t.Errorf("after a pause: got %q, want %q", out, want)
				}
				if want == "" {
					continue
				}
				want = event(tt.then) + event(" ")
				if out := string(r.Append(nil, []byte(event(tt.next)+event(" ")))); out != want {
					t.Errorf("then: got %q, want %q", out, want)
				}
			}
		})
	}
}

// With a pause behind each event no secret is seen but for its first letters, and nothing else changes.
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
		var all []string
		for i, rest := 0, text; rest != ""; i++ {
			n := len(text)
			if len(pieces) > 0 {
				n = int(pieces[i%len(pieces)])%23 + 1
			}
			n = runes(rest, n)
			data, _ := json.Marshal(map[string]string{"content": rest[:n]})
			all = append(all, "data: "+string(data)+"\n\n")
			rest = rest[n:]
		}
		whole := paused(s.EventStream(), all, nil)
		if got := paused(s.EventStream(), all, cuts); got != whole {
			t.Fatalf("secret %q, %q cut by %v:\n got %q\nwant %q", secret, all, cuts, got, whole)
		}
		want, _ := contents(t, split(s.EventStream(), strings.Join(all, ""), nil))
		got, _ := contents(t, whole)
		if !spared(got, want) {
			t.Fatalf("secret %q in %q:\n got %q\nwant %q", secret, all, got, want)
		}
	})
}

// paused redacts pieces of a stream, each of them cut, with a pause behind it.
func paused(r Idler, pieces []string, cuts []byte) string {
	var out []byte
	for i, piece := range pieces {
		for len(piece) > 0 {
			n := len(piece)
			if len(cuts) > 0 {
				n = min(n, int(cuts[i%len(cuts)])%17+1)
			}
			out, piece = r.Append(out, []byte(piece[:n])), piece[n:]
		}
		out = r.Idle(out)
	}
	return string(r.Close(out))
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
