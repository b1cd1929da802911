package app

import (
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

// keySecrets returns the secrets that the settings refer to, for redactors. A value of less than
// 8 bytes would be found in ordinary words and is left out, and so is one that is not there.
func keySecrets(s settings.Settings, env func(string) (string, bool)) *redact.Secrets {
	return redact.NewSecrets().With(s.Secrets(env)...)
}
