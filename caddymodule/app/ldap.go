package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
)

// LDAPTest is a user of the directory whom an admin wants to see judged: what POST /ldap/test on the
// control socket is asked. The answer is an [identity.Report].
type LDAPTest struct {
	User     string `json:"user"`
	Password string `json:"password,omitempty"` // empty: none is tried
}

// serveLDAPTest lets an admin try the directory of the running configuration.
func (a *App) serveLDAPTest(w http.ResponseWriter, r *http.Request) {
	var in LDAPTest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&in); err != nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: `The body must be {"user", "password"?}.`})
		return
	}
	if a.directory == nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "no_directory", Detail: errNoDirectory.Error()})
		return
	}
	a.answer(w, a.directory.Explain(r.Context(), in.User, in.Password))
}

var errNoDirectory = errors.New("auth.mode has no ldap, so there is no directory to ask")

// Explain asks the directory of the settings, without a running service.
func (in LDAPTest) Explain(ctx context.Context, s settings.Settings) (identity.Report, error) {
	d, err := newDirectory(s, nil)
	if err != nil {
		return identity.Report{}, err
	}
	if d == nil {
		return identity.Report{}, errNoDirectory
	}
	defer d.Close()
	return d.Explain(ctx, in.User, in.Password), nil
}
