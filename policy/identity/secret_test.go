package identity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	const clear = "svc_topsecret"
	s := Secret(clear)
	type box struct{ S Secret }
	var out []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T %[1]s", "%10.3s", "%c", "%e"} {
		out = append(out, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, []Secret{s}), fmt.Sprintf(verb, map[Secret]Secret{s: s}), fmt.Sprintf(verb, box{s}))
	}
	out = append(out, fmt.Sprint(s), fmt.Sprintln(s), s.String(), s.GoString(), fmt.Errorf("x: %v", s).Error())
	doc, err := json.Marshal(map[string]any{"a": box{s}, "b": &s})
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, string(doc))
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("m", "s", s, "p", &s, "box", box{s}, "any", []any{s})
	}
	out = append(out, log.String())
	hex := fmt.Sprintf("%x", clear)
	for _, text := range out {
		if strings.Contains(text, clear) || strings.Contains(strings.ToLower(text), hex) || strings.Contains(text, "top") {
			t.Errorf("got %s", text)
		}
	}
	if fmt.Sprint(s) != "REDACTED" || s.Reveal() != clear {
		t.Errorf("got %s and %s", fmt.Sprint(s), s.Reveal())
	}
	if string(doc) != `{"a":{"S":"REDACTED"},"b":"REDACTED"}` {
		t.Errorf("got %s", doc)
	}
}
