package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// IssuersKey is the list of identity providers, for the mode oidc. It can be written in
// config/api.json and in the Caddyfile.
const IssuersKey = "oidc"

const defaultLeeway = 30 * time.Second

// Issuer is an OpenID Connect provider that users of ours log in at.
type Issuer struct {
	// Name is what the provider is called in paths: 1 to 32 small letters, digits and -.
	Name string `json:"name"`
	// URL is the issuer identifier, exactly as it stands in the provider's tokens. It is https
	// unless it is on this host.
	URL string `json:"issuer"`
	// ClientID is the name that the provider knows this service by. Without one nobody can
	// log in with a browser.
	ClientID string `json:"client_id,omitempty"`
	// ClientSecret is where the client's secret is; empty for a public client.
	ClientSecret Reference `json:"client_secret,omitempty"`
	// Scopes are asked for when somebody logs in. Default: openid profile email.
	Scopes []string `json:"scopes"`
	// Audience are the audiences of which a bearer token needs one. Default: the client id.
	Audience []string `json:"audience,omitempty"`
	// AuthorizedParties are the clients (azp) that a bearer token may have been issued to.
	// Default: all, if an audience is set; else the client id.
	AuthorizedParties []string `json:"authorized_parties,omitempty"`
	// UserClaim is the claim with the user's name. Default: the first there is of
	// preferred_username, a verified email, and sub.
	UserClaim string `json:"user_claim,omitempty"`
	// GroupsClaim is the claim with the user's groups, a.b.c for one within others. Default: groups.
	GroupsClaim string `json:"groups_claim"`
	// AdminGroups have the role admin. The strongest role counts; * is everybody.
	AdminGroups []string `json:"admin_groups,omitempty"`
	// UserGroups have the role user.
	UserGroups []string `json:"user_groups,omitempty"`
	// ReadonlyGroups have the role readonly.
	ReadonlyGroups []string `json:"readonly_groups,omitempty"`
	// UserInfo adds the claims of the provider's userinfo endpoint.
	UserInfo bool `json:"userinfo,omitempty"`
	// Leeway is how far the provider's clock may be off. Default: 30s.
	Leeway time.Duration `json:"-"`
	// CAFile holds the certificates that the provider's is checked with, as PEM. Default: the
	// system's.
	CAFile string `json:"ca_file,omitempty"`
	// Insecure lets the provider be on another host without TLS: anybody on the way to it can
	// become anybody here.
	Insecure bool `json:"insecure,omitempty"`
	// Label is what the login page calls the provider. Default: the name.
	Label string `json:"label"`
}

// MarshalJSON returns the fields by their names.
func (i Issuer) MarshalJSON() ([]byte, error) {
	type plain Issuer
	return json.Marshal(struct {
		plain
		Leeway string `json:"leeway"`
	}{plain(i), i.Leeway.String()})
}

// issuerField is one field of an issuer: its name and how it is written.
type issuerField struct {
	name string
	kind issuerKind
	set  func(*Issuer, []string) error
}

type issuerKind int

const (
	issuerText      issuerKind = iota // one word
	issuerReference                   // one word that says where a secret is
	issuerList                        // one word or more
	issuerFlag                        // true or false; no word in a Caddyfile is true
)

var issuerFields = []issuerField{
	issuerString("issuer", func(i *Issuer) *string { return &i.URL }, checkIssuerURL),
	issuerString("client_id", func(i *Issuer) *string { return &i.ClientID }, nil),
	{"client_secret", issuerReference, func(i *Issuer, words []string) error {
		i.ClientSecret = Reference(words[0])
		return checkReference(words[0])
	}},
	issuerWords("scopes", func(i *Issuer) *[]string { return &i.Scopes }, checkScopes),
	issuerWords("audience", func(i *Issuer) *[]string { return &i.Audience }, nil),
	issuerWords("authorized_parties", func(i *Issuer) *[]string { return &i.AuthorizedParties }, nil),
	issuerString("user_claim", func(i *Issuer) *string { return &i.UserClaim }, nil),
	issuerString("groups_claim", func(i *Issuer) *string { return &i.GroupsClaim }, nil),
	issuerWords("admin_groups", func(i *Issuer) *[]string { return &i.AdminGroups }, nil),
	issuerWords("user_groups", func(i *Issuer) *[]string { return &i.UserGroups }, nil),
	issuerWords("readonly_groups", func(i *Issuer) *[]string { return &i.ReadonlyGroups }, nil),
	issuerBool("userinfo", func(i *Issuer) *bool { return &i.UserInfo }),
	{"leeway", issuerText, func(i *Issuer, words []string) (err error) {
		i.Leeway, err = parseDuration(words[0], 0, 5*time.Minute)
		return err
	}},
	issuerString("ca_file", func(i *Issuer) *string { return &i.CAFile }, checkFile),
	issuerBool("insecure", func(i *Issuer) *bool { return &i.Insecure }),
	issuerString("label", func(i *Issuer) *string { return &i.Label }, nil),
}

func issuerString(name string, field func(*Issuer) *string, check func(string) error) issuerField {
	return issuerField{name, issuerText, func(i *Issuer, words []string) error {
		if check != nil {
			if err := check(words[0]); err != nil {
				return err
			}
		}
		*field(i) = words[0]
		return nil
	}}
}

func issuerWords(name string, field func(*Issuer) *[]string, check func([]string) error) issuerField {
	return issuerField{name, issuerList, func(i *Issuer, words []string) error {
		if check != nil {
			if err := check(words); err != nil {
				return err
			}
		}
		*field(i) = words
		return nil
	}}
}

func issuerBool(name string, field func(*Issuer) *bool) issuerField {
	return issuerField{name, issuerFlag, func(i *Issuer, words []string) (err error) {
		if *field(i), err = strconv.ParseBool(words[0]); err != nil {
			return fmt.Errorf("%q is neither true nor false", words[0])
		}
		return nil
	}}
}

func lookupIssuerField(name string) (issuerField, error) {
	i := slices.IndexFunc(issuerFields, func(f issuerField) bool { return f.name == name })
	if i >= 0 {
		return issuerFields[i], nil
	}
	known := make([]string, len(issuerFields))
	for i, f := range issuerFields {
		known[i] = f.name
	}
	if n := nearest(name, known); n != "" {
		return issuerField{}, fmt.Errorf("%s has no %s; did you mean %s?", IssuersKey, name, n)
	}
	return issuerField{}, fmt.Errorf("%s has no %s; it has %s", IssuersKey, name, strings.Join(known, ", "))
}

// ParseIssuerField checks the words of one field of an issuer, as they stand in a Caddyfile
// after its name, and returns it in the form it has in JSON. Words with placeholders pass.
func ParseIssuerField(name string, words []string) (any, error) {
	f, err := lookupIssuerField(name)
	if err != nil {
		return nil, err
	}
	at := IssuersKey + "." + name
	switch {
	case f.kind == issuerFlag && len(words) == 0:
		return true, nil
	case len(words) == 0 || slices.Contains(words, ""):
		return nil, fmt.Errorf("%s: a value is missing", at)
	case f.kind != issuerList && len(words) > 1:
		return nil, fmt.Errorf("%s: one value is expected, %d are given", at, len(words))
	}
	if f.kind == issuerReference || !strings.Contains(strings.Join(words, ""), "{") {
		if err := f.set(new(Issuer), words); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
	}
	if f.kind == issuerList {
		return words, nil
	}
	return words[0], nil
}

// set sets a field to a value as it stands in JSON. Errors never repeat what may be a secret.
func (i *Issuer) set(name string, raw json.RawMessage) error {
	if name == "name" {
		if json.Unmarshal(raw, &i.Name) != nil {
			return errors.New("name must be a string")
		}
		return nil
	}
	f, err := lookupIssuerField(name)
	if err != nil {
		return err
	}
	words, err := f.decode(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := f.set(i, words); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// decode turns a JSON value into words.
func (f issuerField) decode(raw json.RawMessage) ([]string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		if text == "" {
			return nil, errors.New("the value is empty: give one or leave it out")
		}
		return []string{text}, nil
	}
	switch f.kind {
	case issuerFlag:
		return []string{string(raw)}, nil
	case issuerList:
		var words []string
		if json.Unmarshal(raw, &words) == nil && raw[0] == '[' && len(words) > 0 && !slices.Contains(words, "") {
			return words, nil
		}
		return nil, errors.New(`this is not a list of strings such as ["a", "b"]`)
	case issuerReference:
		return nil, errNoReference
	default:
		return nil, errors.New("this is not a string; write it in quotes")
	}
}

var issuerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// CheckIssuerName refuses what cannot stand in a path.
func CheckIssuerName(name string) error {
	if !issuerName.MatchString(name) {
		return fmt.Errorf("%q is not a name for an identity provider: use 1 to 32 small letters, digits and -", name)
	}
	return nil
}

// complete fills in the defaults and looks at what concerns more than one field.
func (i *Issuer) complete() error {
	if err := CheckIssuerName(i.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if i.Scopes == nil {
		i.Scopes = []string{"openid", "profile", "email"}
	}
	if i.GroupsClaim == "" {
		i.GroupsClaim = "groups"
	}
	if i.Label == "" {
		i.Label = i.Name
	}
	switch {
	case i.URL == "":
		return errors.New("issuer is missing: write the provider's issuer identifier, such as https://login.example.com")
	case i.ClientID == "" && len(i.Audience) == 0:
		return errors.New("client_id is missing: write the name that the provider knows this service by, or, for bearer tokens alone, their audience")
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

// checkPublicURL refuses what is not the address of a site.
func checkPublicURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != raw {
		return errors.New("this is not an address without a path, such as https://gateway.example.com")
	}
	return nil
}
