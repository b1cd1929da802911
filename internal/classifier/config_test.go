package classifier

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	const url = "https://guard.example.com/v1/moderations"
	for _, tt := range []struct {
		name   string
		config Config
		want   string // in the error; empty: none
	}{
		{"least", Config{URL: url}, ""},
		{"key on this host", Config{URL: "http://127.0.0.1:8400/", Key: "k"}, ""},
		{"clear without a key", Config{URL: "http://guard:8000/"}, ""},
		{"no URL", Config{}, "url: "},
		{"no scheme", Config{URL: "guard:8000"}, "url: the URL has to begin with https:// or http://"},
		{"password", Config{URL: "https://a:hunter2@guard/"}, "url: the URL holds a user name or a password"},
		{"query", Config{URL: "https://guard/?key=hunter2"}, "url: the URL has a query or a fragment"},
		{"key in clear", Config{URL: "http://guard:8000/", Key: "hunter2"}, "url: the key would go over the network in clear"},
		{"shape", Config{URL: url, Shape: "azure"}, `shape: unknown value "azure": want plain or openai`},
		{"timeout", Config{URL: url, Timeout: time.Hour}, "timeout: 1h0m0s is out of range"},
		{"threshold", Config{URL: url, Threshold: 1.5}, "threshold: 1.5 is out of range"},
		{"failures", Config{URL: url, Failures: -1}, "failures: -1 is out of range"},
		{"pause", Config{URL: url, Pause: -1}, "pause: -1ns is out of range"},
		{"max_text", Config{URL: url, MaxText: 10}, "max_text: 10 is out of range"},
		{"piece", Config{URL: url, MaxText: 1000, Piece: 2000}, "piece: 2000 is out of range: write 256 bytes to what max_text is, 1000"},
		{"calls", Config{URL: url, Calls: 5000}, "calls: 5000 is out of range"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := fmt.Sprint(tt.config.Check())
			if tt.want == "" && got != "<nil>" || !strings.Contains(got, tt.want) || strings.Contains(got, "hunter2") {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if _, err := New(Config{URL: url, CAFile: "/nowhere.pem"}); err == nil || !strings.HasPrefix(err.Error(), "ca_file: ") {
		t.Errorf("got %v", err)
	}
}

func TestKeyPrintsNothing(t *testing.T) {
	c := Config{URL: "https://guard/", Key: "hunter2"}
	doc, err := json.Marshal(c.Key)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %+v %#v %s %q %s", c, c, c.Key, c.Key, c.Key, doc); strings.Contains(got, "hunter2") {
		t.Errorf("got %s", got)
	}
}
