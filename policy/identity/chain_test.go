package identity_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// fixed is a provider that always answers the same.
type fixed struct {
	p         policy.Principal
	outcome   identity.Outcome
	err       error
	challenge string
}

func (f fixed) Name() string { return "fixed" }

func (f fixed) Authenticate(*http.Request) (policy.Principal, identity.Outcome, error) {
	return f.p, f.outcome, f.err
}

type challenging struct{ fixed }

func (c challenging) Challenge() string { return c.challenge }

func TestChain(t *testing.T) {
	bob, eve := policy.Principal{User: "bob", Address: "192.0.2.5"}, policy.Principal{User: "eve"}
	forbidden := &identity.Refused{Status: 403, Code: "f", Detail: "forbidden"}
	bad := &identity.Refused{Status: 401, Code: "b", Detail: `bad "token"` + "\n"}
	down := errors.New("directory is down")
	yes := func(p policy.Principal) identity.Provider { return fixed{p: p, outcome: identity.Yes} }
	say := func(o identity.Outcome, err error) identity.Provider { return fixed{p: eve, outcome: o, err: err} }
	bearer := challenging{fixed{challenge: "Bearer"}}
	tests := map[string]struct {
		chain      identity.Chain
		by         string
		user       string
		err        error
		challenges []string
		status     int
	}{
		"nobody to ask":                {nil, "", "", identity.ErrNoCredentials, nil, 401},
		"the first yes counts":         {identity.Chain{say(identity.NotMine, nil), yes(bob), yes(eve)}, "fixed", "bob", nil, nil, 0},
		"no ends it":                   {identity.Chain{say(identity.No, bad), yes(bob)}, "fixed", "", bad, nil, 401},
		"no without a reason":          {identity.Chain{say(identity.No, nil), yes(bob)}, "fixed", "", identity.ErrNoCredentials, nil, 401},
		"technical ends it":            {identity.Chain{say(identity.NotMine, down), yes(bob)}, "fixed", "", down, nil, 503},
		"technical no":                 {identity.Chain{say(identity.No, down), yes(bob)}, "fixed", "", down, nil, 503},
		"yes with an error is none":    {identity.Chain{say(identity.Yes, bad), yes(bob)}, "fixed", "", bad, nil, 401},
		"yes with a technical error":   {identity.Chain{say(identity.Yes, down), yes(bob)}, "fixed", "", down, nil, 503},
		"outcome that does not exist":  {identity.Chain{say(7, nil)}, "", "", identity.ErrNoCredentials, nil, 401},
		"kept reason gives way to yes": {identity.Chain{say(identity.NotMine, forbidden), yes(bob)}, "fixed", "bob", nil, nil, 0},
		"kept reason":                  {identity.Chain{say(identity.NotMine, forbidden), say(identity.NotMine, nil)}, "", "", forbidden, nil, 403},
		"401 says more than 403":       {identity.Chain{say(identity.NotMine, forbidden), say(identity.NotMine, bad)}, "", "", bad, nil, 401},
		"the first 401 is kept":        {identity.Chain{say(identity.NotMine, bad), say(identity.NotMine, forbidden)}, "", "", bad, nil, 401},
		"asking says more than 403":    {identity.Chain{say(identity.NotMine, forbidden), bearer}, "", "", identity.ErrNoCredentials, []string{"Bearer"}, 401},
		"a final 403 stays":            {identity.Chain{bearer, say(identity.No, forbidden)}, "fixed", "", forbidden, nil, 403},
		"every scheme is named":        {identity.Chain{bearer, challenging{fixed{challenge: "Basic"}}}, "", "", identity.ErrNoCredentials, []string{"Bearer", "Basic"}, 401},
		"what is wrong with the token": {
			identity.Chain{challenging{fixed{challenge: "Bearer", outcome: identity.No, err: bad}}, challenging{fixed{challenge: "Basic"}}},
			"fixed", "", bad,
			[]string{`Bearer, error="invalid_token", error_description="bad 'token''"`, "Basic"},
			401,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			p, err := tt.chain.Authenticate(r)
			if !errors.Is(err, tt.err) || p.User != tt.user {
				t.Fatalf("got %+v, %v; want %q, %v", p, err, tt.user, tt.err)
			}
			if _, by, _ := tt.chain.Decide(r); by != tt.by {
				t.Errorf("got a decision by %q, want %q", by, tt.by)
			}
			if err == nil {
				return
			}
			if got := tt.chain.Problem(err); got.Status != tt.status || got.Code == "" || got.Detail == "" || got.Detail == down.Error() {
				t.Errorf("got problem %+v, want status %d", got, tt.status)
			}
			if got := tt.chain.Challenges(err); !slices.Equal(got, tt.challenges) {
				t.Errorf("got challenges %q, want %q", got, tt.challenges)
			}
		})
	}
}

func TestChainFillsInTheAddress(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "[2001:db8::1]:4711"
	for in, want := range map[string]string{"": "2001:db8::1", "192.0.2.5": "192.0.2.5"} {
		p, err := identity.Chain{fixed{p: policy.Principal{User: "bob", Address: in}, outcome: identity.Yes}}.Authenticate(r)
		if err != nil || p.Address != want {
			t.Errorf("%q: got %+v, %v; want address %s", in, p, err, want)
		}
	}
}

func TestTokenProvider(t *testing.T) {
	r := newRig(t)
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	other := r.addUser(t, identity.AddUser{Name: "eve", Role: policy.User})
	revoked := r.addUser(t, identity.AddUser{Name: "gone", Role: policy.User})
	if _, err := r.RevokeToken(t.Context(), boss, "gone", ""); err != nil {
		t.Fatal(err)
	}
	stranger := newRig(t).addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	chain := identity.Chain{identity.NewTokenProvider(r.Service)}
	type h = http.Header
	tests := map[string]struct {
		header h
		user   string
		code   string
	}{
		"bearer":                    {h{"Authorization": {"Bearer " + token}}, "bob", ""},
		"scheme in any case":        {h{"Authorization": {"bEARER " + token}}, "bob", ""},
		"spaces":                    {h{"Authorization": {"Bearer   " + token + " "}}, "bob", ""},
		"x-api-key":                 {h{"X-Api-Key": {token}}, "bob", ""},
		"the same twice":            {h{"Authorization": {"Bearer " + token}, "X-Api-Key": {token}}, "bob", ""},
		"somebody else's key":       {h{"Authorization": {"Bearer " + token}, "X-Api-Key": {"sk-abc"}}, "bob", ""},
		"somebody else's Bearer":    {h{"Authorization": {"Bearer sk-abc"}, "X-Api-Key": {token}}, "bob", ""},
		"nothing":                   {h{}, "", "credentials_missing"},
		"somebody else's key alone": {h{"X-Api-Key": {"sk-abc"}}, "", "credentials_missing"},
		"our prefix, not our form":  {h{"X-Api-Key": {"svc_abc"}}, "", "credentials_missing"},
		"two different ones":        {h{"Authorization": {"Bearer " + token}, "X-Api-Key": {other}}, "", "credentials_conflict"},
		"two keys":                  {h{"X-Api-Key": {token, other}}, "", "credentials_conflict"},
		"two headers":               {h{"Authorization": {"Bearer " + token, "Bearer " + token}}, "", "credentials_conflict"},
		"another scheme":            {h{"Authorization": {"Basic Ym9iOng="}}, "", "credentials_unrecognised"},
		"another's token":           {h{"Authorization": {"Bearer eyJhbGciOiJSUzI1NiJ9.e30.x"}}, "", "credentials_unrecognised"},
		"no scheme":                 {h{"Authorization": {token}}, "", "credentials_unrecognised"},
		"empty":                     {h{"Authorization": {""}}, "", "credentials_unrecognised"},
		"no value":                  {h{"Authorization": {"Bearer"}}, "", "credentials_unrecognised"},
		"cut off":                   {h{"Authorization": {"Bearer " + token[:30]}}, "", "token_malformed"},
		"two values":                {h{"Authorization": {"Bearer " + token + ", " + token}}, "", "token_malformed"},
		"mistyped key":              {h{"X-Api-Key": {mistype(token)}}, "", "token_malformed"},
		"unknown":                   {h{"Authorization": {"Bearer " + stranger}}, "", "token_unknown"},
		"revoked":                   {h{"Authorization": {"Bearer " + revoked}}, "", "token_revoked"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			req := httptest.NewRequest("GET", "/", nil)
			req.Header = tt.header
			p, err := chain.Authenticate(req)
			if p.User != tt.user {
				t.Fatalf("got %+v, %v", p, err)
			}
			if err == nil {
				if p.Address != "192.0.2.1" { // httptest's
					t.Errorf("got address %q", p.Address)
				}
				return
			}
			got := chain.Problem(err)
			if got.Code != tt.code || got.Status != 401 || got.Detail == "" {
				t.Errorf("got %+v, want code %s", got, tt.code)
			}
			want := `Bearer realm="svc"`
			if tt.code != "credentials_missing" {
				want += `, error="invalid_token", error_description="` + got.Detail + `"`
			}
			if d := cmp.Diff([]string{want}, chain.Challenges(err)); d != "" {
				t.Errorf("challenges (-want +got):\n%s", d)
			}
		})
	}
}

// mistype changes the last character of a token to another of the alphabet.
func mistype(token string) string {
	last := "0"
	if strings.HasSuffix(token, last) {
		last = "1"
	}
	return token[:len(token)-1] + last
}

func TestTokenProviderTechnical(t *testing.T) {
	r := newRig(t)
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest("GET", "/", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	chain := identity.Chain{identity.NewTokenProvider(r.Service)}
	p, err := chain.Authenticate(req)
	if err == nil || p.User != "" || chain.Problem(err).Status != 503 || chain.Challenges(err) != nil {
		t.Errorf("got %+v, %v, %+v", p, err, chain.Problem(err))
	}
}

func TestStrip(t *testing.T) {
	r := newRig(t)
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	for _, tt := range []struct{ in, want http.Header }{
		{http.Header{"Authorization": {"bearer " + token}, "X-Api-Key": {token}, "Accept": {"*/*"}}, http.Header{"Accept": {"*/*"}}},
		{http.Header{"Authorization": {"Bearer svc_cut"}}, http.Header{}},
		{http.Header{"Authorization": {"Bearer sk-abc"}, "X-Api-Key": {"sk-abc"}}, http.Header{"Authorization": {"Bearer sk-abc"}, "X-Api-Key": {"sk-abc"}}},
		{http.Header{"Authorization": {"Basic Ym9iOng="}, "X-Api-Key": {token}}, http.Header{"Authorization": {"Basic Ym9iOng="}}},
	} {
		identity.Strip(tt.in)
		if d := cmp.Diff(tt.want, tt.in); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}
