package oidc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// provider starts a provider for one test.
func provider(t *testing.T) *oidctest.Provider {
	t.Helper()
	p := oidctest.Start()
	t.Cleanup(p.Close)
	return p
}

// at returns the settings of a provider.
func at(p *oidctest.Provider) settings.Issuer {
	return settings.Issuer{
		Name: "corp", URL: p.URL, ClientID: oidctest.ClientID, ClientSecret: "{env.SECRET}",
		Scopes: []string{"openid", "profile"}, GroupsClaim: "groups", Leeway: 30 * time.Second,
		AdminGroups: []string{"ops"}, UserGroups: []string{"staff"}, ReadonlyGroups: []string{"guests"},
	}
}

func newSet(t *testing.T, list ...settings.Issuer) *oidc.Set {
	t.Helper()
	s, err := oidc.New(list, oidc.Options{Env: func(string) (string, bool) { return oidctest.ClientSecret, true }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// admit is an identity service that lets everybody in.
func admit(_ context.Context, x identity.External) (policy.Principal, error) {
	return policy.Principal{
		User: x.Name, Role: x.Role, Groups: x.Groups, Source: x.Source, Issued: x.Issued, Expires: x.Expires,
	}, nil
}

func send(t *testing.T, s *oidc.Set, token string) (policy.Principal, identity.Outcome, error) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return oidc.NewBearer(s, admit, nil).Authenticate(r)
}

func TestBearer(t *testing.T) {
	p := provider(t)
	s := newSet(t, at(p))
	now := time.Now().Truncate(time.Second)
	got, outcome, err := send(t, s, p.Token(map[string]any{"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "groups": []string{"x", "staff"}}))
	if outcome != identity.Yes || err != nil {
		t.Fatalf("got %v, %v, want yes", outcome, err)
	}
	want := policy.Principal{
		User: "alice", Role: policy.User, Groups: []string{"x", "staff"}, Source: policy.SourceOIDC,
		Issued: now, Expires: now.Add(time.Minute + 30*time.Second),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The attacks of RFC 8725 and others: whatever is wrong with a token, it is refused.
func TestBadTokens(t *testing.T) {
	p, other := provider(t), provider(t)
	i := at(p)
	s := newSet(t, i, settings.Issuer{Name: "other", URL: other.URL, ClientID: "else", GroupsClaim: "groups", AdminGroups: []string{"ops"}})
	if _, _, err := send(t, s, p.Token(nil)); err != nil {
		t.Fatalf("a good token: %v", err)
	}
	evil, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	evilEC, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, evilEd, _ := ed25519.GenerateKey(rand.Reader)
	now := time.Now().Unix()
	good := p.Claims(nil)
	swap := func(token string, part int, with string) string {
		parts := strings.Split(token, ".")
		parts[part] = with
		return strings.Join(parts, ".")
	}
	b64 := base64.RawURLEncoding.EncodeToString
	raw := func(header, claims string) string {
		return b64([]byte(header)) + "." + b64([]byte(claims)) + "." + b64([]byte("x"))
	}
	claims := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for n := 0; n < len(pairs); n += 2 {
			m[pairs[n].(string)] = pairs[n+1]
		}
		return m
	}
	public := &p.Key("rsa").(*rsa.PrivateKey).PublicKey
	der, _ := x509.MarshalPKIXPublicKey(public)
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	hs := func(secret []byte) string {
		signed := strings.Join(strings.Split(swap(p.Token(nil), 0, b64([]byte(`{"alg":"HS256","kid":"rsa"}`))), ".")[:2], ".")
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		return signed + "." + b64(mac.Sum(nil))
	}
	jwk, _ := json.Marshal(oidctest.JWK(p.Key("rsa")))
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	text, _ := json.Marshal(good)

	for name, tt := range map[string]struct{ token, want string }{
		"alg none":                   {raw(`{"alg":"none","kid":"rsa"}`, string(text)), "algorithm is not accepted"},
		"alg none without signature": {swap(swap(p.Token(nil), 0, b64([]byte(`{"alg":"none"}`))), 2, ""), "algorithm is not accepted"},
		"alg NoNe":                   {raw(`{"alg":"NoNe"}`, string(text)), "algorithm is not accepted"},
		"alg missing":                {raw(`{"kid":"rsa"}`, string(text)), "algorithm is not accepted"},
		"alg list":                   {raw(`{"alg":["RS256"]}`, string(text)), "algorithm is not accepted"},
		"HS256 with the PEM":         {hs(pemKey), "algorithm is not accepted"},
		"HS256 with the DER":         {hs(der), "algorithm is not accepted"},
		"HS256 with the JWK":         {hs(jwk), "algorithm is not accepted"},
		"no signature":               {swap(p.Token(nil), 2, ""), "signature is wrong"},
		"other signature":            {swap(p.Token(nil), 2, strings.Split(p.Token(claims("sub", "2")), ".")[2]), "signature is wrong"},
		"changed claims":             {swap(p.Token(nil), 1, b64([]byte(strings.Replace(string(text), "alice", "admin", 1)))), "signature is wrong"},
		"other key, known kid":       {oidctest.Sign("RS256", evil, claims("kid", "rsa"), good), "signature is wrong"},
		"other key, no kid":          {oidctest.Sign("RS256", evil, nil, good), "signature is wrong"},
		"other EC key":               {oidctest.Sign("ES256", evilEC, claims("kid", "ec"), good), "signature is wrong"},
		"other Ed key":               {oidctest.Sign("EdDSA", evilEd, claims("kid", "ed"), good), "signature is wrong"},
		"zero EC signature":          {swap(p.Sign("ES256", "ec", nil, good), 2, b64(make([]byte, 64))), "signature is wrong"},
		"kid of another kind":        {oidctest.Sign("RS256", evil, claims("kid", "ec"), good), "no key of that name and kind"},
		"kid is a path":              {oidctest.Sign("RS256", evil, claims("kid", "../../../dev/null"), good), "no key of that name and kind"},
		"kid is SQL":                 {oidctest.Sign("RS256", evil, claims("kid", "x' UNION SELECT 'key"), good), "no key of that name and kind"},
		"kid is an address":          {oidctest.Sign("RS256", evil, claims("kid", other.URL+"/jwks"), good), "no key of that name and kind"},
		"kid is empty":               {p.Sign("RS256", "rsa", claims("kid", ""), good), "a kid that is not the name of a key"},
		"kid is a number":            {p.Sign("RS256", "rsa", claims("kid", 1), good), "a kid that is not the name of a key"},
		"kid is huge":                {p.Sign("RS256", "rsa", claims("kid", strings.Repeat("k", 300)), good), "a kid that is not the name of a key"},
		"jku elsewhere":              {oidctest.Sign("RS256", evil, claims("kid", "rsa", "jku", other.URL+"/jwks"), good), "holds jku"},
		"jku elsewhere, good key":    {p.Sign("RS256", "rsa", claims("jku", other.URL+"/jwks"), good), "holds jku"},
		"x5u":                        {p.Sign("RS256", "rsa", claims("x5u", other.URL+"/cert"), good), "holds x5u"},
		"jwk":                        {oidctest.Sign("RS256", evil, claims("jwk", oidctest.JWK(evil)), good), "holds jwk"},
		"x5c":                        {oidctest.Sign("RS256", evil, claims("x5c", []string{"MII"}), good), "holds x5c"},
		"crit":                       {p.Sign("RS256", "rsa", claims("crit", []string{"b64"}, "b64", false), good), "holds crit"},
		"header twice":               {raw(`{"alg":"RS256","alg":"none"}`, string(text)), "header is refused"},
		"claims twice":               {raw(`{"alg":"RS256"}`, `{"iss":"x","iss":"y"}`), "claims are refused"},
		"not base64":                 {"e30.e30.*", "not base64url"},
		"padding":                    {"e30=.e30.e30", "not base64url"},
		"loose bits":                 {swap(p.Token(nil), 0, "e31"), "not base64url"},
		"line end":                   {"e3\n0.e30.e30", "not base64url"},
		"no JSON":                    {raw(`x`, string(text)), "header is refused"},
		"a list":                     {raw(`{"alg":"RS256"}`, `[]`), "claims are refused"},
		"five parts":                 {"eyJhbGciOiJkaXIifQ.a.b.c.d", "it has 5 parts"},
		"nested":                     {p.Sign("RS256", "rsa", claims("cty", "JWT", "enc", "A128GCM"), good), "holds enc"},
		"deep":                       {raw(`{"alg":"RS256"}`, deep), "claims are refused"},
		"huge":                       {p.Token(claims("pad", strings.Repeat("x", 20<<10))), "larger than 16384 bytes"},
		"foreign issuer":             {p.Token(claims("iss", "https://evil.example")), "an issuer that is not known"},
		"no issuer":                  {p.Token(claims("iss", nil)), "an issuer that is not known"},
		"issuer with a slash":        {p.Token(claims("iss", p.URL+"/")), "an issuer that is not known"},
		"issuers":                    {p.Token(claims("iss", []string{p.URL})), "an issuer that is not known"},
		"another issuer's key":       {other.Sign("RS256", "rsa", nil, good), "signature is wrong"},
		"token of the other issuer":  {other.Token(nil), "not for this service"},
		"other audience":             {p.Token(claims("aud", "billing")), `its audience is "billing", and "svc" is needed`},
		"no audience":                {p.Token(claims("aud", nil)), "not for this service"},
		"empty audience":             {p.Token(claims("aud", "")), "not for this service"},
		"part of the audience":       {p.Token(claims("aud", "svc-admin")), "not for this service"},
		"audience in an object":      {p.Token(claims("aud", map[string]any{"x": "svc"})), "not for this service"},
		"issued to another client":   {p.Token(claims("aud", []string{"svc", "spa"}, "azp", "spa")), `its azp is "spa"`},
		"client_id of another":       {p.Token(claims("client_id", "spa")), `its azp is "spa"`},
		"audience as a flag":         {p.Token(claims("aud", map[string]any{"svc": true})), "neither a string nor a list"},
		"audience with a number":     {p.Token(claims("aud", []any{"svc", 1})), "neither a string nor a list"},
		"several parties":            {p.Token(claims("azp", []string{"spa"})), "azp is not a string"},
		"a party in an object":       {p.Token(claims("azp", map[string]any{"svc": true})), "azp is not a string"},
		"client_id is a list":        {p.Token(claims("client_id", []string{"spa"})), "client_id is not a string"},
		"typ is a number":            {p.Sign("RS256", "rsa", claims("typ", 1), good), "typ that is not a string"},
		"typ is a list":              {p.Sign("RS256", "rsa", claims("typ", []string{"logout+jwt"}), good), "typ that is not a string"},
		"sid is a number":            {p.Token(claims("sid", 1)), "sid is not a string"},
		"subject is a list":          {p.Token(claims("sub", []string{"1"})), "who it is about"},
		"no member of a group":       {p.Token(claims("groups", map[string]any{"ops": false, "staff": nil})), "gives a role here"},
		"nothing to a group":         {p.Token(claims("groups", map[string]any{"ops": map[string]any{}, "staff": []any{}, "guests": "false"})), "gives a role here"},
		"groups is a flag":           {p.Token(claims("groups", true)), "gives a role here"},
		"expired":                    {p.Token(claims("exp", now-31)), "has expired at"},
		"no end":                     {p.Token(claims("exp", nil)), "has no end"},
		"end is text":                {p.Token(claims("exp", "9999999999")), "exp is not a time"},
		"end is beyond all times":    {p.Token(claims("exp", 1e15)), "exp is not a time"},
		"end before all times":       {p.Token(claims("exp", -1)), "exp is not a time"},
		"not yet":                    {p.Token(claims("nbf", now+40)), "is not good before"},
		"made in the future":         {p.Token(claims("iat", now+40)), "made in the future"},
		"logout token":               {p.Token(claims("events", map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}})), "tells of an event"},
		"logout type":                {p.Sign("RS256", "rsa", claims("typ", "logout+jwt"), good), "not for this use"},
		"proof of possession":        {p.Sign("RS256", "rsa", claims("typ", "dpop+jwt"), good), "not for this use"},
		"bound to a key":             {p.Token(claims("cnf", map[string]any{"jkt": "x"})), "bound to a key"},
		"no subject":                 {p.Token(claims("sub", nil)), "who it is about"},
		"subject is a number":        {p.Token(claims("sub", 1)), "who it is about"},
		"no groups":                  {p.Token(claims("groups", nil)), "says nothing of groups"},
		"groups without a role":      {p.Token(claims("groups", []string{"OPS", "ops ", ""})), "gives a role here"},
		"groups in one text":         {p.Token(claims("groups", "x ops")), "gives a role here"},
	} {
		t.Run(name, func(t *testing.T) {
			_, outcome, err := send(t, s, tt.token)
			refused, ok := errors.AsType[*identity.Refused](err)
			if outcome == identity.Yes || !ok || !strings.Contains(refused.Detail, tt.want) {
				t.Errorf("got %v, %v, want a refusal with %q", outcome, err, tt.want)
			}
		})
	}
}

func TestGoodTokens(t *testing.T) {
	p := provider(t)
	with := func(change func(*settings.Issuer)) settings.Issuer {
		i := at(p)
		change(&i)
		return i
	}
	now := time.Now().Unix()
	for name, tt := range map[string]struct {
		issuer settings.Issuer
		token  string
		want   string
	}{
		"ES256":                {at(p), p.Sign("ES256", "ec", nil, p.Claims(nil)), "alice admin"},
		"EdDSA":                {at(p), p.Sign("EdDSA", "ed", nil, p.Claims(nil)), "alice admin"},
		"PS512":                {at(p), p.Sign("PS512", "rsa", nil, p.Claims(nil)), "alice admin"},
		"no kid":               {at(p), p.Sign("ES256", "ec", map[string]any{"kid": nil}, p.Claims(nil)), "alice admin"},
		"access token":         {at(p), p.Sign("RS256", "rsa", map[string]any{"typ": "at+JWT"}, p.Claims(nil)), "alice admin"},
		"media type":           {at(p), p.Sign("RS256", "rsa", map[string]any{"typ": "application/at+jwt"}, p.Claims(nil)), "alice admin"},
		"own jku":              {at(p), p.Sign("RS256", "rsa", map[string]any{"jku": p.URL + "/jwks"}, p.Claims(nil)), "alice admin"},
		"several audiences":    {at(p), p.Token(map[string]any{"aud": []string{"x", "svc"}, "azp": "svc"}), "alice admin"},
		"within the leeway":    {at(p), p.Token(map[string]any{"exp": now - 20, "nbf": now + 20, "iat": now + 20}), "alice admin"},
		"strongest group":      {at(p), p.Token(map[string]any{"groups": []string{"guests", "staff", "ops"}}), "alice admin"},
		"weakest group":        {at(p), p.Token(map[string]any{"groups": []string{"guests", "x"}}), "alice readonly"},
		"one group":            {at(p), p.Token(map[string]any{"groups": "staff"}), "alice user"},
		"verified address":     {at(p), p.Token(map[string]any{"preferred_username": nil, "email": "a@x", "email_verified": true}), "a@x admin"},
		"unverified address":   {at(p), p.Token(map[string]any{"preferred_username": nil, "email": "a@x", "email_verified": false}), "1 admin"},
		"address without word": {at(p), p.Token(map[string]any{"preferred_username": nil, "email": "a@x"}), "1 admin"},
		"own audience": {
			with(func(i *settings.Issuer) { i.Audience = []string{"api", "api2"} }),
			p.Token(map[string]any{"aud": "api2", "azp": "spa"}), "alice admin",
		},
		"authorised party": {
			with(func(i *settings.Issuer) { i.AuthorizedParties = []string{"spa"} }),
			p.Token(map[string]any{"azp": "spa"}), "alice admin",
		},
		"user claim": {
			with(func(i *settings.Issuer) { i.UserClaim = "ext.upn" }),
			p.Token(map[string]any{"ext": map[string]any{"upn": "bob"}}), "bob admin",
		},
		"nested groups": {
			with(func(i *settings.Issuer) { i.GroupsClaim = "realm_access.roles" }),
			p.Token(map[string]any{"realm_access": map[string]any{"roles": []string{"staff"}}}), "alice user",
		},
		"groups of a client with dots": {
			with(func(i *settings.Issuer) { i.GroupsClaim = "resource_access.svc.example.roles" }),
			p.Token(map[string]any{"resource_access": map[string]any{"svc.example": map[string]any{"roles": []string{"staff"}}}}), "alice user",
		},
		"groups in a namespace": {
			with(func(i *settings.Issuer) { i.GroupsClaim = "https://svc.example/groups" }),
			p.Token(map[string]any{"https://svc.example/groups": []string{"staff"}}), "alice user",
		},
		"groups as names of an object": {
			with(func(i *settings.Issuer) { i.GroupsClaim = "roles" }),
			p.Token(map[string]any{"roles": map[string]any{"staff": map[string]any{"1": "x"}}}), "alice user",
		},
		"scopes": {
			with(func(i *settings.Issuer) { i.GroupsClaim = "scope" }),
			p.Token(map[string]any{"scope": "openid staff"}), "alice user",
		},
		"everybody": {
			with(func(i *settings.Issuer) { i.ReadonlyGroups = []string{"*"} }),
			p.Token(map[string]any{"groups": nil}), "alice readonly",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, outcome, err := send(t, newSet(t, tt.issuer), tt.token)
			if outcome != identity.Yes || got.User+" "+string(got.Role) != tt.want {
				t.Errorf("got %s %s, %v, %v, want %s", got.User, got.Role, outcome, err, tt.want)
			}
		})
	}
}

func TestNotForBearer(t *testing.T) {
	p := provider(t)
	b := oidc.NewBearer(newSet(t, at(p)), admit, nil)
	for _, tt := range []struct {
		name    string
		headers []string
		want    identity.Outcome
	}{
		{"nothing", nil, identity.NotMine},
		{"a token of ours", []string{"Bearer svc_x"}, identity.NotMine},
		{"basic", []string{"Basic YS5iLmM6ZA=="}, identity.NotMine},
		{"another scheme", []string{"DPoP " + p.Token(nil)}, identity.NotMine},
		{"another issuer", []string{"Bearer " + p.Token(map[string]any{"iss": "https://x.example"})}, identity.NotMine},
		{"any case", []string{"bearer  " + p.Token(nil)}, identity.Yes},
		{"twice", []string{"Bearer " + p.Token(nil), "Bearer " + p.Token(nil)}, identity.No},
		{"with another", []string{"Basic eA==", "Bearer " + p.Token(nil)}, identity.No},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			for _, h := range tt.headers {
				r.Header.Add("Authorization", h)
			}
			if _, got, err := b.Authenticate(r); got != tt.want {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestAdmitHasTheLastWord(t *testing.T) {
	p := provider(t)
	s := newSet(t, at(p))
	broken := errors.New("the store is gone")
	for _, tt := range []struct {
		err    error
		status int // 0: technical
	}{
		{identity.ErrRevoked, http.StatusUnauthorized},
		{identity.ErrExpired, http.StatusUnauthorized},
		{identity.ErrNameTaken, http.StatusForbidden},
		{identity.ErrInvalid, http.StatusForbidden},
		{broken, 0},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+p.Token(nil)) // verified at first, then from the cache
		b := oidc.NewBearer(s, func(context.Context, identity.External) (policy.Principal, error) {
			return policy.Principal{}, fmt.Errorf("admitting: %w", tt.err)
		}, nil)
		_, outcome, err := b.Authenticate(r)
		refused, _ := errors.AsType[*identity.Refused](err)
		if outcome != identity.No || refused == nil && tt.status != 0 || refused != nil && refused.Status != tt.status {
			t.Errorf("%v: got %v, %v, want no with %d", tt.err, outcome, err, tt.status)
		}
	}
}
