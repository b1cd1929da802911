package settings

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// IssuersKey is the list of identity providers, for the mode oidc.
const IssuersKey = "oidc"

// Issuer is an OpenID Connect provider that users of ours log in at.
type Issuer struct {
	// Name is what the provider is called in paths: 1 to 32 lowercase letters, digits and -.
	Name string
	// URL is the issuer identifier, exactly as it stands in the provider's tokens. It is https
	// unless it is on this host.
	URL string
	// ClientID is the name that the provider knows this service by. Without one nobody can
	// log in with a browser.
	ClientID string
	// ClientSecret is where the client's secret is; empty for a public client.
	ClientSecret Reference
	// Scopes are asked for when somebody logs in. Default: openid profile email.
	Scopes []string
	// Audience are the audiences of which a bearer token needs one. Default: the client id.
	Audience []string
	// AuthorizedParties are the clients (azp) that a bearer token may have been issued to.
	// Default: all, if an audience is set; else the client id.
	AuthorizedParties []string
	// UserClaim is the claim with the user's name. Default: the first there is of
	// preferred_username, a verified email, and sub.
	UserClaim string
	// NameClaim is the claim that names an account for good, instead of sub, where sub differs between
	// tokens of the same sender. Such a provider is for bearer tokens alone. Default: none, sub.
	NameClaim string
	// GroupsClaim is the claim with the user's groups, a.b.c for one within others. Default: groups.
	GroupsClaim string
	// AdminGroups have the role admin. The strongest role counts; * is everybody.
	AdminGroups []string
	// UserGroups have the role user.
	UserGroups []string
	// ReadonlyGroups have the role readonly.
	ReadonlyGroups []string
	// UserInfo adds the claims of the provider's userinfo endpoint.
	UserInfo bool
	// Leeway is how far the provider's clock may be off. Default: 30s.
	Leeway time.Duration
	// CAFile holds the certificates that the provider's is checked with, as PEM. Default: the
	// system's.
	CAFile string
	// Insecure lets the provider be on another host without TLS: anybody on the way to it can
	// become anybody here.
	Insecure bool
	// Label is what the login page calls the provider. Default: the name.
	Label string
}

// Issuers returns the identity providers.
func (s Settings) Issuers() []Issuer { return issuers.of(s) }

var issuers = register(&objects[Issuer]{
	key: IssuersKey, block: "oidc", one: "an identity provider",
	doc:  "identity providers for `auth.mode oidc`. See [auth.md](auth.md#oidc)",
	name: func(i *Issuer) *string { return &i.Name },
	fields: []field[Issuer]{
		text("issuer", "", "the issuer identifier, exactly as in the provider's tokens, a `/` at the end included",
			func(i *Issuer) *string { return &i.URL }, checkIssuerURL).
			required("write the provider's issuer identifier, such as https://login.example.com").different(),
		text("client_id", "", "the name that the provider knows this service by. Without it there is no button, and `audience` is needed",
			func(i *Issuer) *string { return &i.ClientID }, nil),
		secret("client_secret", "where the client's secret is; none for a public client",
			func(i *Issuer) *Reference { return &i.ClientSecret }),
		items("scopes", "openid profile email", "what is asked for at a login. `offline_access` has most providers send a refresh token",
			func(i *Issuer) *[]string { return &i.Scopes }, checkScopes),
		items("audience", "", "audiences of which a bearer token needs one; `client_id` without them",
			func(i *Issuer) *[]string { return &i.Audience }, nil),
		items("authorized_parties", "", "clients that a bearer token may have been issued to, see below",
			func(i *Issuer) *[]string { return &i.AuthorizedParties }, nil),
		text("user_claim", "", "the claim with the user's name; the first of `preferred_username`, `email` if it is verified, and `sub` without it",
			func(i *Issuer) *string { return &i.UserClaim }, nil),
		text("name_claim", "", "the claim that names an account for good, instead of `sub`, for bearer tokens whose `sub` differs between runs; also the user's name without `user_claim`",
			func(i *Issuer) *string { return &i.NameClaim }, nil),
		text("groups_claim", "groups", "the claim with the groups; `a.b.c` for one within others",
			func(i *Issuer) *string { return &i.GroupsClaim }, nil),
		items("admin_groups", "", "groups whose members are admins; `*` is everybody. The strongest role counts",
			func(i *Issuer) *[]string { return &i.AdminGroups }, nil),
		items("user_groups", "", "groups whose members are users",
			func(i *Issuer) *[]string { return &i.UserGroups }, nil),
		items("readonly_groups", "", "groups whose members may only read",
			func(i *Issuer) *[]string { return &i.ReadonlyGroups }, nil),
		boolean("userinfo", false, "adds the claims of the provider's userinfo endpoint",
			func(i *Issuer) *bool { return &i.UserInfo }),
		duration("leeway", "30s", 0, 5*time.Minute, "how far the provider's clock may be off",
			func(i *Issuer) *time.Duration { return &i.Leeway }),
		text("ca_file", "", "PEM file with the authorities of the provider's certificate; the system's without it",
			func(i *Issuer) *string { return &i.CAFile }, checkFile),
		boolean("insecure", false, "allows `http://` on another host than this. Anybody on the way can then be anybody",
			func(i *Issuer) *bool { return &i.Insecure }),
		text("label", "", "what the login page calls the provider; its name without it",
			func(i *Issuer) *string { return &i.Label }, nil),
	},
	complete: (*Issuer).complete,
	check: func(s Settings, all []Issuer) error {
		if s.Auth.Has(ModeOIDC) && len(all) == 0 {
			return About(errors.New("auth.mode: oidc needs an identity provider: write a block oidc <name> { … } into the Caddyfile, or one into the list oidc of config/api.json"), "auth.mode")
		}
		return nil
	},
	used: func(s Settings) bool { return s.Auth.Has(ModeOIDC) },
})

// complete names the provider on the login page and looks at what concerns more than one field.
func (i *Issuer) complete() error {
	if i.Label == "" {
		i.Label = i.Name
	}
	switch {
	case i.ClientID == "" && len(i.Audience) == 0:
		return errors.New("client_id is missing: write the name that the provider knows this service by, or, for bearer tokens alone, their audience")
	case i.ClientID != "" && i.NameClaim != "":
		return errors.New("name_claim is for bearer tokens alone, and with client_id people log in, who are known by sub: leave one of them out")
	case i.ClientID == "" && i.ClientSecret != "":
		return errors.New("client_secret is of no use without client_id")
	case len(i.AdminGroups)+len(i.UserGroups)+len(i.ReadonlyGroups) == 0:
		return errors.New("nobody would get a role: write admin_groups, user_groups or readonly_groups (* is everybody)")
	case !i.Insecure && strings.HasPrefix(i.URL, "http:") && !onThisHost(i.URL):
		return errors.New("issuer: use https; insecure allows http on another host")
	}
	return nil
}

func checkIssuerURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return errors.New("this is not an address such as https://login.example.com")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(raw, "?#") {
		return errors.New("an issuer has no user, query or fragment")
	}
	return nil
}

func onThisHost(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.Unmap().IsLoopback()
}

func checkScopes(scopes []string) error {
	if !slices.Contains(scopes, "openid") {
		return errors.New("openid is not among them, and without it no provider says who logged in")
	}
	return nil
}
