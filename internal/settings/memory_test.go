package settings_test

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestMemorySettings(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"another mode", `{"memory": {"capture": "sometimes"}}`, `memory.capture: use cued, always or never`},
		{"nothing recalled", `{"memory": {"recall": 0}}`, `memory.recall`},
		{"no room", `{"memory": {"bytes": "1"}}`, `memory.bytes`},
		{"embeddings without a model", `{"memory": {"embeddings_url": "https://example.org/v1"}}`, `memory.embeddings_model is missing`},
		{"embeddings in clear", `{"memory": {"embeddings_url": "http://example.org/v1", "embeddings_model": "m"}}`, `the key would go over the network in clear`},
		{"a key in the address", `{"memory": {"embeddings_url": "https://example.org/v1?key=x", "embeddings_model": "m"}}`, `memory.embeddings_url`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := settings.Resolve(settings.Layers{File: file(t, tc.text)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}
