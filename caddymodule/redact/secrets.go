package redact

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/svc-gateway/svc/caddymodule/directive"
	"github.com/svc-gateway/svc/internal/credentials"
	"github.com/svc-gateway/svc/scanner/redact"
)

// maxCached is the number of different credentials whose sets are kept.
const maxCached = 1024

// secrets are the values that must not be in an answer whatever stands around them: those of the
// configuration, and what the request has shown.
type secrets struct {
	base   *redact.Secrets
	mu     sync.Mutex
	cached map[string]*redact.Secrets // by the credentials of a request
}

// keeper is the app svc, as far as it matters here: it knows the keys of its settings.
type keeper interface{ Secrets() *redact.Secrets }

// newSecrets registers the values, in which placeholders are replaced, and those of the app svc
// where the configuration has it.
func newSecrets(ctx caddy.Context, values []string, places directive.Places) (*secrets, error) {
	s := new(secrets)
	if a, err := ctx.AppIfConfigured("svc"); err == nil {
		if k, ok := a.(keeper); ok {
			s.base = k.Secrets()
		}
	}
	repl := caddy.NewReplacer()
	checked := make([]string, len(values))
	own := redact.NewSecrets()
	for i, v := range values {
		value, err := repl.ReplaceOrErr(v, true, true)
		if err != nil {
			return nil, places.At(secretKey(i), fmt.Errorf("secrets: value %d: %w", i+1, err))
		}
		value = strings.TrimRight(value, "\r\n") // of a file
		if err := own.Register(value); err != nil {
			return nil, places.At(secretKey(i), fmt.Errorf("secrets: value %d: %w", i+1, err))
		}
		checked[i] = value
	}
	s.base = s.base.With(checked...)
	return s, nil
}

// secretKey is the key of a secret among the places.
func secretKey(i int) string { return fmt.Sprintf("secrets[%d]", i) }

// hasPlaceholder reports whether a value may have a placeholder in it.
func hasPlaceholder(v string) bool { return strings.Contains(v, "{") }

// checkSecret refuses a value that cannot be a secret as it stands. It never repeats it.
func checkSecret(v string) error {
	if hasPlaceholder(v) {
		return nil
	}
	return redact.NewSecrets().Register(v)
}

// of returns the secrets of an answer to the request; nil knows none.
func (s *secrets) of(r *http.Request) *redact.Secrets {
	if s == nil {
		return nil
	}
	shown := credentials.From(r)
	if len(shown) == 0 {
		return s.base
	}
	id := strings.Join(shown, "\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.cached[id]
	if set == nil {
		if s.cached == nil || len(s.cached) >= maxCached {
			s.cached = make(map[string]*redact.Secrets)
		}
		set = s.base.With(shown...)
		s.cached[id] = set
	}
	return set
}
