package settings_test

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

func classifierOf(fields string) (settings.Settings, error) {
	s, _, err := settings.Resolve(settings.Layers{Caddyfile: []byte(`{"classifier": {` + fields + `}}`)})
	return s, err
}

func TestClassifier(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields string
		want   string // in the error; empty: none
	}{
		{"least", `"url": "http://guard:8000/v1/moderations"`, ""},
		{"off", `"shape": "openai"`, ""},
		{"URL", `"url": "https://a:hunter2@guard/"`, "classifier.url: the URL holds a user name or a password"},
		{"key in clear", `"url": "http://guard/", "api_key": "{env.GUARD_KEY}"`, "classifier.url: the key would go over the network in clear"},
		{"key itself", `"url": "https://guard/", "api_key": "hunter2"`, "classifier.api_key"},
		{"shape", `"shape": "azure"`, `classifier.shape: "azure" is not a shape`},
		{"fail", `"fail": "shut"`, `classifier.fail: "shut" is not a way to fail`},
		{"threshold", `"threshold": "80"`, "classifier.threshold: this is not a number above 0 and up to 1"},
		{"piece", `"url": "https://guard/", "piece": "128KiB"`, "classifier.piece: 131072 is more than classifier.max_text, 65536"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := classifierOf(tt.fields)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2")):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// A key that is not there is an error where it is used, and only there.
func TestClassifierKey(t *testing.T) {
	s, err := classifierOf(`"url": "https://guard/", "api_key": "{env.GUARD_KEY}"`)
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }
	if err := s.CheckEnvironment(none); err == nil || !strings.Contains(err.Error(), "classifier.api_key: GUARD_KEY is not set") {
		t.Errorf("got %v", err)
	}
	if err := s.CheckEnvironment(func(string) (string, bool) { return "k", true }); err != nil {
		t.Errorf("got %v", err)
	}
	s.Classifier.URL = ""
	if err := s.CheckEnvironment(none); err != nil {
		t.Errorf("without a classifier: got %v", err)
	}
}
