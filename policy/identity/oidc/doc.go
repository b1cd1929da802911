// Package oidc lets in users of OpenID Connect providers: programs with a bearer JWT, people
// with a browser.
//
//	set, err := oidc.New(settings.Issuers, oidc.Options{Env: os.LookupEnv})
//	set.Warm()                                             // does not wait
//	chain = append(chain, oidc.NewBearer(set, service.Admit, nil))
//	report := set.Explain(ctx, token, "")                  // the same judgement, step by step
//	pages := (&oidc.Flow{Set: set, …}).Handler(enter, refuse) // people with a browser
//
// # Tokens
//
// A token is judged by a list of checks, each of them about one thing: form, issuer, header,
// keys, signature, times, audience, kind, then userinfo, user and role. Signatures are RS, PS,
// ES or EdDSA, made with a key that the provider publishes; what the token itself says about
// keys is refused. A token for one use, such as a logout token, is no good for another. Verified
// tokens are remembered, until they end or the provider's keys change.
//
// # Logins
//
// [Flow] is the authorization code flow. What a login needs later (state, nonce, the verifier of
// PKCE) is kept by the browser in a cookie that only we can read, so that a login can be finished
// by the browser that began it, once. [Set.Renew] asks the provider again about a
// session; providers that say that somebody logged out are heard.
//
// # A provider that is down
//
// Nothing is asked of a provider before it is needed, or [Set.Warm] is called. What is known of
// one is fetched again every 15 minutes and goes on working for a day when that fails. A key
// that is not known makes us ask at once, at most every 10 seconds. All of it is one fetch at a
// time with short deadlines; after a failure the provider is left alone for a while, and those
// who need it get a technical error at once. Users of other providers notice nothing.
//
// All types are safe for concurrent use.
package oidc
