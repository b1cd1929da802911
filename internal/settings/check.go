package settings

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func checkModes(modes []string) error {
	if len(modes) == 0 {
		return errors.New("the list is empty: use token, or none for this host only")
	}
	known := []string{ModeNone, ModeToken, ModeLDAP, ModeOIDC}
	for i, m := range modes {
		if !slices.Contains(known, m) {
			return fmt.Errorf("%q is not a mode%s: use none, token, ldap or oidc", m, didYouMean(m, known))
		}
		if slices.Contains(modes[:i], m) {
			return fmt.Errorf("%s is listed twice", m)
		}
	}
	return nil
}

func checkProvider(p string) error {
	if p == ProviderDemo || p == ProviderOpenAI {
		return nil
	}
	return fmt.Errorf("%q is not a provider%s: use demo or openai", p, didYouMean(p, []string{ProviderDemo, ProviderOpenAI}))
}

// checkURL never repeats the value: it may have a password in it.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return errors.New("this is not an http or https address such as http://127.0.0.1:11434/v1")
	}
	if u.User != nil {
		return errors.New("an address must not carry a user or password: name the variable that holds the key in api_key_env")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return errors.New("an address must not carry a query or fragment")
	}
	return nil
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkEnvName never repeats the value: it may be the key itself.
func checkEnvName(name string) error {
	if !envName.MatchString(name) {
		return errors.New("this is not the name of an environment variable: put the key into a variable and write its name here, never the key")
	}
	return nil
}

func checkOrigins(origins []string) error {
	for i, o := range origins {
		if slices.Contains(origins[:i], o) {
			return fmt.Errorf("%s is listed twice", o)
		}
		if o == "*" {
			continue
		}
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.Scheme+"://"+u.Host != o {
			return fmt.Errorf("%q is not an origin: write scheme://host[:port] without a path, such as https://chat.example.com", o)
		}
	}
	return nil
}

func checkProjectRoot(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q is not an absolute path", path)
	}
	if filepath.Clean(path) == "/" {
		return errors.New("the whole file system cannot be the project root: name a folder in it")
	}
	return nil
}

// check looks at what concerns more than one setting.
func (s Settings) check() error {
	var errs []error
	if s.Model.Provider == ProviderOpenAI && s.Model.Name == "" {
		errs = append(errs, errors.New("model.name is missing: provider openai needs the model's name as the server knows it"))
	}
	if s.Auth.Has(ModeLDAP) {
		errs = append(errs, s.LDAP.check())
	}
	if s.Bus.Kind == BusRedis {
		errs = append(errs, s.Bus.check())
	}
	if s.Auth.Has(ModeOIDC) && len(s.Issuers) == 0 {
		errs = append(errs, fmt.Errorf("auth.mode: %[1]s needs an identity provider: write a block %[2]s <name> { … } into the Caddyfile, or one into the list %[2]s of config/api.json", ModeOIDC, IssuersKey))
	}
	for i, a := range s.Issuers {
		for _, b := range s.Issuers[:i] {
			switch {
			case a.Name == b.Name:
				errs = append(errs, fmt.Errorf("%s[%d].name: %q is used twice", IssuersKey, i, a.Name))
			case a.URL == b.URL:
				errs = append(errs, fmt.Errorf("%s[%d].issuer: %s is the issuer of %s already", IssuersKey, i, a.URL, b.Name))
			}
		}
	}
	seen := map[string]bool{}
	for i, a := range s.AsyncSubagents {
		at := fmt.Sprintf("%s[%d]", AsyncSubagentsKey, i)
		switch {
		case a.Name == "" || strings.ContainsAny(a.Name, " \t\n/"):
			errs = append(errs, fmt.Errorf("%s.name is missing or has spaces or slashes in it", at))
		case seen[a.Name]:
			errs = append(errs, fmt.Errorf("%s.name: %q is used twice", at, a.Name))
		}
		seen[a.Name] = true
		if err := checkURL(a.URL); err != nil {
			errs = append(errs, fmt.Errorf("%s.url: %w", at, err))
		}
		if a.AssistantID == "" {
			errs = append(errs, fmt.Errorf("%s.assistant_id is missing", at))
		}
		if a.APIKeyEnv != "" {
			if err := checkEnvName(a.APIKeyEnv); err != nil {
				errs = append(errs, fmt.Errorf("%s.api_key_env: %w", at, err))
			}
		}
	}
	return errors.Join(errs...)
}

// CheckEnvironment reports settings that name an environment variable which is not set, or a
// file with a secret that cannot be read. It is apart from [Resolve] because settings are also
// shown and checked where the service does not run.
func (s Settings) CheckEnvironment(env func(string) (string, bool)) error {
	if name := s.Model.APIKeyEnv; name != "" && s.Model.Provider != ProviderDemo {
		if v, _ := env(name); v == "" {
			return fmt.Errorf("model.api_key_env names %s, which is not set: put the API key into it, or leave model.api_key_env out", name)
		}
	}
	if s.Auth.Has(ModeLDAP) && s.LDAP.BindPassword != "" {
		if _, err := s.LDAP.BindPassword.Reveal(env); err != nil {
			return fmt.Errorf("ldap.bind_password: %w", err)
		}
	}
	if err := s.Bus.checkSecrets(env); err != nil {
		return err
	}
	for _, i := range s.Issuers {
		if i.ClientSecret == "" || !s.Auth.Has(ModeOIDC) {
			continue
		}
		if _, err := i.ClientSecret.Reveal(env); err != nil {
			return fmt.Errorf("%s %s: client_secret: %w", IssuersKey, i.Name, err)
		}
	}
	return nil
}
