package app

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/ldap"
)

// sources are the started apps, the newest last: it says whom to ask about external users. Where
// a configuration fails after its start, the one before it has the say again.
type sources struct {
	mu   sync.Mutex
	apps []*App
}

func (s *sources) push(a *App) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apps = append(s.apps, a)
	a.setSources()
}

func (s *sources) remove(a *App) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apps = slices.DeleteFunc(s.apps, func(o *App) bool { return o == a })
	if n := len(s.apps); n > 0 {
		s.apps[n-1].setSources()
	}
}

func (a *App) setSources() {
	a.Identity().SetSources(a.Directory(), a.renewer())
	a.Identity().AcceptTokens(a.settings.Auth.Has(settings.ModeToken))
	a.Identity().AcceptCertificates(a.certificateRole)
}

// AddCertificates tells of rules that let people with certificates in. It is called while the
// configuration is provisioned.
func (a *App) AddCertificates(rules []identity.CertificateRule) {
	a.certificates = append(a.certificates, rules)
}

// certificateRole returns the strongest role that a stage of the configuration gives to the subject.
func (a *App) certificateRole(_, subject string) (strongest policy.Role) {
	for _, rules := range a.certificates {
		if role := identity.CertificateRole(rules, subject); strongest == "" || role != "" && policy.Weaker(strongest, role) == strongest {
			strongest = role
		}
	}
	return strongest
}

// Directory returns the directory that auth.mode ldap asks, nil without that mode.
func (a *App) Directory() identity.Directory {
	if a.directory == nil {
		return nil
	}
	return a.directory
}

// newDirectory returns the directory of the settings, nil where auth.mode has no ldap.
func newDirectory(s settings.Settings, trouble ldap.Trouble) (*ldap.Directory, error) {
	if !s.Auth.Has(settings.ModeLDAP) {
		return nil, nil
	}
	var password string
	if s.LDAP.BindPassword != "" {
		var err error
		if password, err = s.LDAP.BindPassword.Reveal(os.LookupEnv); err != nil {
			return nil, settings.About(fmt.Errorf("ldap.bind_password: %w", err), "ldap.bind_password")
		}
	}
	d, err := ldap.New(s.LDAP, identity.Secret(password), trouble)
	return d, settings.About(err, "ldap", "auth.mode")
}

func (a *App) directoryTrouble(server string, err error) {
	if err == nil {
		a.logger.Info("the directory server can be reached again", zap.String("server", server))
		return
	}
	a.logger.Warn("the directory server cannot be reached", zap.String("server", server), zap.Error(err))
}
