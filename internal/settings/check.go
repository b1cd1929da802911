package settings

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/suggest"
)

func checkModes(modes []string) error {
	if len(modes) == 0 {
		return errors.New("the list is empty: use token, or none for this host only")
	}
	for _, m := range modes {
		if err := oneOf(m, "mode", ModeNone, ModeToken, ModeLDAP, ModeOIDC); err != nil {
			return err
		}
	}
	return noneTwice(modes)
}

func checkProvider(p string) error {
	return oneOf(p, "provider", ProviderDemo, ProviderOpenAI, ProviderAnthropic)
}

// oneOf checks a word of a short list.
func oneOf(v, what string, known ...string) error {
	if slices.Contains(known, v) {
		return nil
	}
	last := len(known) - 1
	return fmt.Errorf("%q is not a %s%s: use %s or %s", v, what, suggest.DidYouMean(v, known), strings.Join(known[:last], ", "), known[last])
}

// noneTwice refuses a list in which something comes twice.
func noneTwice(names []string) error {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return fmt.Errorf("%s is listed twice", n)
		}
	}
	return nil
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
	for _, o := range origins {
		if o == "*" {
			continue
		}
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.Scheme+"://"+u.Host != o {
			return fmt.Errorf("%q is not an origin: write scheme://host[:port] without a path, such as https://chat.example.com", o)
		}
	}
	return noneTwice(origins)
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

// checkPublicURL refuses what is not the address of a site.
func checkPublicURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != raw {
		return errors.New("this is not an address without a path, such as https://gateway.example.com")
	}
	return nil
}

// check looks at what concerns more than one setting.
func (s Settings) check() error {
	var errs []error
	if s.Model.Provider != ProviderDemo {
		if err := s.Model.complete("name"); err != nil {
			errs = append(errs, About(fmt.Errorf("model.%w", err), "model.provider"))
		}
	}
	if i := slices.IndexFunc(s.CORS.Origins, func(o string) bool { return strings.Contains(o, "*") }); i >= 0 && s.Auth.Has(ModeNone) {
		errs = append(errs, About(fmt.Errorf("cors.origins: %s lets pages of any site in, and with auth.mode none they would act as admin: name the origins, or take none out of auth.mode (token, for example)", s.CORS.Origins[i]), "cors.origins"))
	}
	if s.Auth.Has(ModeLDAP) {
		errs = append(errs, s.LDAP.check())
	}
	if s.Bus.Kind == BusRedis {
		errs = append(errs, s.Bus.check())
	}
	if need := 16 * s.Limits.BodyBytes; s.Limits.DecodeMemory != 0 && s.Limits.DecodeMemory < need {
		errs = append(errs, About(fmt.Errorf("limits.decode_memory: %d is too little for a body of limits.body_bytes, %d: write %d or more, or 0", s.Limits.DecodeMemory, s.Limits.BodyBytes, need), "limits.decode_memory"))
	}
	errs = append(errs, s.Approvals.check(), s.Webhooks.check(), s.Memory.check(), s.checkKeys())
	errs = append(errs, s.Sandbox.check(s.Auth), s.Classifier.check())
	for _, l := range lists {
		errs = append(errs, l.checkAll(s))
	}
	return errors.Join(errs...)
}
