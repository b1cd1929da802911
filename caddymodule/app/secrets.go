package app

import (
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner"
)

// keySecrets returns the secrets that the settings refer to: the keys in environment variables,
// the passwords for the directory and the live bus, the clients' secrets. A value of less than 8 bytes would be
// found in ordinary words and is left out, and so is one that is not there.
func keySecrets(s settings.Settings, env func(string) (string, bool)) *scanner.Secrets {
	var values []string
	for _, name := range append([]string{s.Model.APIKeyEnv}, remoteKeys(s)...) {
		v, _ := env(name)
		values = append(values, v)
	}
	for _, r := range append([]settings.Reference{s.LDAP.BindPassword, s.Bus.Password, s.Bus.SentinelPassword}, clientSecrets(s)...) {
		if v, err := r.Reveal(env); err == nil {
			values = append(values, v)
		}
	}
	return scanner.NewSecrets().With(values...)
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
