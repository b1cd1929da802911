package redact

import "testing"

// What a Caddyfile cannot say, JSON cannot either.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		h    *Handler
		want string
	}{
		{&Handler{Mode: "off", OAuthTokens: "redact"}, `mode: unknown value "off": want redact or observe`},
		{&Handler{Mode: "redact", OAuthTokens: "x"}, `oauth_tokens: unknown value "x": want redact or pass`},
		{&Handler{Mode: "redact", OAuthTokens: "pass", SignedThinking: "x"}, `signed_thinking: unknown value "x": want pass or redact`},
		{&Handler{Mode: "redact", OAuthTokens: "pass", SignedThinking: "pass", Allow: Allow{Paths: []string{"x"}}}, `allow: paths: "x" is not a path such as /oauth/token: it has to begin with a slash`},
		{&Handler{Mode: "observe", OAuthTokens: "pass", SignedThinking: "pass", Allow: Allow{Rules: []string{"known_secret"}}}, `allow: rules: known_secret cannot be allowed: take the value out of the option secret instead`},
		{&Handler{Mode: "observe", OAuthTokens: "redact", SignedThinking: "redact", Allow: Allow{Fields: []string{"a.*"}, Headers: []string{"X"}}}, ""},
	} {
		got := ""
		if err := tt.h.Validate(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
