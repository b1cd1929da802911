package redact

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact/waiting"
)

// A piece that is the beginning of the text again is not always a snapshot.
func TestPiecesLikeSnapshots(t *testing.T) {
	key := "BEGIN RSA PRIVATE KEY-----\n" + pemBody64
	for name, parts := range map[string][]string{
		"two and three dashes": {"--", "---" + key},
		"one and four":         {"-", "----" + key},
		"one by one":           {"-", "-", "-", "-", "-", key},
		"after a snapshot":     {"-", "--", "-----" + key},
	} {
		var data []string
		for _, p := range parts {
			data = append(data, `{"content":`+quoted(p)+`}`)
		}
		in := events(data...)
		for n := range byte(30) {
			if got := split(NewEventStream(), in, []byte{n}); strings.Contains(got, "MIIE") {
				t.Errorf("%s, in pieces of %d: %s", name, n+1, got)
			}
		}
	}
	known := knowing(t, "00-correct-horse")
	in := events(`{"content":"0"}`, `{"content":"0-correct-horse"}`)
	if got := split(known.EventStream(), in, []byte{99}); strings.Contains(got, "correct") {
		t.Errorf("known secret: %s", got)
	}
}

// What a snapshot held back does not become a secret because the next one goes on otherwise.
func TestSnapshotsOfWords(t *testing.T) {
	for _, texts := range [][]string{
		{"max token", "max tokens"},
		{"token", "tokens"},
		{"the gh", "the ghost"},
		{"-", "--", "---", "--- a"},
		{"a password of", "a password of length 8 is"},
	} {
		var data []string
		for _, s := range texts {
			data = append(data, `{"content":`+quoted(s)+`}`)
		}
		in := events(data...)
		if got := redactEvents(in); got != in {
			t.Errorf("got %s\nwant %s", got, in)
		}
	}
}

// A known secret that was cut off by too many other events is not shown.
func TestKnownSecretWaitsNotForEver(t *testing.T) {
	secret := "correct-horse-battery-staple"
	r := knowing(t, secret).EventStream()
	out := r.Append(nil, []byte(events(`{"a":"`+secret[:20]+`"}`)))
	for range waiting.MaxEvents {
		out = r.Append(out, []byte(events(`{"b":"x y"}`)))
	}
	out = r.Close(r.Append(out, []byte(events(`{"a":"`+secret[20:]+` z"}`))))
	if got := string(out); strings.Contains(got, "correct") || strings.Contains(got, "staple") || !strings.Contains(got, `" z"`) {
		t.Errorf("got %.60s … %s", got, got[len(got)-60:])
	}
}

// Nor is the rest of one of which a few letters were shown then.
func TestRestOfKnownSecret(t *testing.T) {
	secret := "correct-horse-battery-staple"
	r := knowing(t, secret).EventStream()
	out := r.Append(nil, []byte(events(`{"a":"it is `+secret[:5]+`"}`)))
	for range waiting.MaxEvents {
		out = r.Append(out, []byte(events(`{"b":"x y"}`)))
	}
	out = r.Close(r.Append(out, []byte(events(`{"a":"`+secret[5:]+` z"}`))))
	if got := string(out); strings.Contains(got, "staple") || !strings.Contains(got, `"it is `+secret[:5]+`"`) || !strings.Contains(got, `"REDACTED z"`) {
		t.Errorf("got %.60s … %s", got, got[len(got)-60:])
	}
}

// Snapshots that grow into a known secret show no more than a few letters of it.
func TestSnapshotsOfKnownSecret(t *testing.T) {
	for _, secret := range []string{"correct-horse-battery-staple", "abcabcabd", "abababac", "aabaabaaab", "hunter2h"} { // some repeat their beginning
		for _, before := range []string{"", "it is "} {
			for step := 1; step < len(secret); step++ {
				var data []string
				for n := 1; n < len(secret); n += step {
					data = append(data, `{"content":`+quoted(before+secret[:n])+`}`)
				}
				data = append(data, `{"content":`+quoted(before+secret+" ok")+`}`)
				got := split(knowing(t, secret).EventStream(), events(data...), []byte{99})
				if strings.Contains(got, secret[:maxSpared+1]) || !strings.Contains(got, `"`+before+Mark+` ok"`) {
					t.Errorf("%q, %q in steps of %d: %s", secret, before, step, got)
				}
			}
		}
	}
}

// quoted returns the text as a string of JSON.
func quoted(s string) string { return `"` + string(jsonscan.AppendEscaped(nil, []byte(s))) + `"` }
