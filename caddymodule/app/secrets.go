package app

import (
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

// keySecrets returns the secrets that the settings refer to: the keys in environment variables,
// the password for the directory, the clients' secrets. A value of less than 8 bytes would be
// found in ordinary words and is left out, and so is one that is not there.
func keySecrets(s settings.Settings, env func(string) (string, bool)) *redact.Secrets {
	var values []string
	for _, name := range append([]string{s.Model.APIKeyEnv}, remoteKeys(s)...) {
		v, _ := env(name)
		values = append(values, v)
	}
	for _, r := range append([]settings.Reference{s.LDAP.BindPassword}, clientSecrets(s)...) {
		if v, err := r.Reveal(env); err == nil {
			values = append(values, v)
		}
	}
	return redact.NewSecrets().With(values...)
}

func remoteKeys(s settings.Settings) (names []string) {
	for _, a := range s.AsyncSubagents {
		names = append(names, a.APIKeyEnv)
	}
	return names
}

func clientSecrets(s settings.Settings) (refs []settings.Reference) {
	for _, i := range s.Issuers {
		refs = append(refs, i.ClientSecret)
	}
	return refs
}
