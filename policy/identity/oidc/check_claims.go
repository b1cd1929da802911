package oidc

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// maxLogoutAge is how old a logout token without an end may be.
const maxLogoutAge = 5 * time.Minute

// checkTimes looks at exp, nbf and iat. The provider's clock may be off by the leeway.
func (e *evaluation) checkTimes(context.Context) error {
	leeway := e.issuer.Leeway
	exp, ends, err1 := e.claims.date("exp")
	nbf, begins, err2 := e.claims.date("nbf")
	iat, issued, err3 := e.claims.date("iat")
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return refuse(codeInvalid, "In the token, %v.", err)
		}
	}
	switch {
	case !ends && e.use != forLogout:
		return refuse(codeInvalid, "The token has no end (exp).")
	case ends && !e.now.Before(exp.Add(leeway)):
		return refuse(codeExpired, "The token has expired at %s.", exp.UTC().Format(time.RFC3339))
	case begins && e.now.Add(leeway).Before(nbf):
		return refuse(codeInvalid, "The token is not good before %s.", nbf.UTC().Format(time.RFC3339))
	case issued && e.now.Add(leeway).Before(iat):
		return refuse(codeInvalid, "The token was made in the future, at %s.", iat.UTC().Format(time.RFC3339))
	case e.use == forLogout && !issued && ends:
		return refuse(codeInvalid, "The logout token does not say when it was made (iat).")
	case e.use == forLogout && !ends && (!issued || e.now.After(iat.Add(maxLogoutAge+leeway))):
		return refuse(codeExpired, "The logout token is too old.")
	}
	if e.external.Expires = exp.Add(leeway); !ends {
		e.external.Expires = iat.Add(maxLogoutAge + leeway)
	}
	// A token that does not say when it was made counts as older than any revocation.
	if e.external.Issued = time.Unix(1, 0); issued {
		e.external.Issued = iat
	} else if begins {
		e.external.Issued = nbf
	}
	e.found("made %s, ends %s", moment(iat, issued), moment(exp, ends))
	return nil
}

func moment(t time.Time, given bool) string {
	if !given {
		return "at no known time"
	}
	return t.UTC().Format(time.RFC3339)
}

// checkAudience makes sure that the token is for us, and that who it was made for may use it.
func (e *evaluation) checkAudience(context.Context) error {
	want, parties := []string{e.issuer.ClientID}, []string{e.issuer.ClientID}
	if e.use == forAPI && len(e.issuer.Audience) > 0 {
		want, parties = e.issuer.Audience, e.issuer.AuthorizedParties
	} else if e.use == forAPI && len(e.issuer.AuthorizedParties) > 0 {
		parties = e.issuer.AuthorizedParties
	}
	aud, ok := e.claims.list("aud")
	if !ok {
		return refuse(codeInvalid, "The token is not for this service: its audience (aud) is neither a string nor a list of strings.")
	}
	where := ""
	if e.resource != "" && slices.Contains(aud, e.resource) {
		// Any client may have asked for it, as with a configured audience.
		want, parties, where = []string{e.resource}, e.issuer.AuthorizedParties, ", for "+e.resource
	} else if e.resource != "" {
		want = append(slices.Clone(want), e.resource)
	}
	if !slices.ContainsFunc(aud, func(a string) bool { return a != "" && slices.Contains(want, a) }) {
		return refuse(codeInvalid, "The token is not for this service: its audience is %q, and %q is needed.", strings.Join(aud, " "), strings.Join(want, " or "))
	}
	if err := e.claims.checkText("azp", "client_id"); err != nil {
		return refuse(codeInvalid, "In the token, %v.", err)
	}
	azp := e.claims.text("azp")
	if azp == "" && e.use == forAPI {
		azp = e.claims.text("client_id") // RFC 9068, 2.2
	}
	asked := len(e.issuer.AuthorizedParties) > 0 && e.use == forAPI
	if len(parties) > 0 && (azp != "" || asked) && !slices.Contains(parties, azp) {
		return refuse(codeInvalid, "The token was issued to another client: its azp is %q.", azp)
	}
	e.found("aud %q, azp %q%s", strings.Join(aud, " "), azp, where)
	return nil
}

// logoutEvent is the member of the claim events that makes a token a logout token.
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// checkKind refuses tokens that are meant for something else, and logins that nobody here began.
func (e *evaluation) checkKind(context.Context) error {
	if err := e.claims.checkText("nonce", "jti", "sid"); err != nil {
		return refuse(codeInvalid, "In the token, %v.", err)
	}
	_, events := e.claims["events"]
	_, nonce := e.claims["nonce"]
	_, bound := e.claims["cnf"]
	switch e.use {
	case forAPI:
		if events {
			return refuse(codeInvalid, "The token tells of an event and is not for the API.")
		}
		if bound {
			return refuse(codeInvalid, "The token is bound to a key (cnf), which a Bearer token cannot prove to have.")
		}
		e.found("for the API")
	case forLogin:
		if events {
			return refuse(codeInvalid, "The token tells of an event and is no ID token.")
		}
		if e.nonce != "" && subtle.ConstantTimeCompare([]byte(e.claims.text("nonce")), []byte(e.nonce)) != 1 {
			return refuse(codeInvalid, "The ID token belongs to another login: its nonce is wrong.")
		}
		if hash, given := e.claims["at_hash"]; given && hash != any(accessHash(e.method.Alg(), e.access)) {
			return refuse(codeInvalid, "The ID token belongs to another access token: its at_hash is wrong.")
		}
	case forLogout:
		event, _ := e.claims["events"].(map[string]any)
		if _, ok := event[logoutEvent].(map[string]any); !ok {
			return refuse(codeInvalid, "The token is no logout token: it tells of no logout.")
		}
		if nonce {
			return refuse(codeInvalid, "The token is no logout token: it has a nonce.")
		}
		if e.claims.text("jti") == "" || e.claims.text("sub") == "" && e.claims.text("sid") == "" {
			return refuse(codeInvalid, "The logout token lacks jti, or says neither sub nor sid.")
		}
	}
	return nil
}

// accessHash is what an ID token holds of the access token that came with it (OpenID Connect
// Core, 3.1.3.6): half of its hash, by the hash function of the signature.
func accessHash(alg, access string) string {
	var sum []byte
	switch {
	case strings.HasSuffix(alg, "256"):
		h := sha256.Sum256([]byte(access))
		sum = h[:]
	case strings.HasSuffix(alg, "384"):
		h := sha512.Sum384([]byte(access))
		sum = h[:]
	default: // 512, and EdDSA with Ed25519
		h := sha512.Sum512([]byte(access))
		sum = h[:]
	}
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}
