package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// logins measures requests with a token three times a round: while nobody logs in, while everybody
// logs in somewhere else, and while everybody logs in at the service. What the people themselves
// cost, on a machine that they share with the service, shows in the second; what is more in the
// third is the service's. Nothing is remembered of the directory's answers: it is asked for each
// login.
func (b *bench) logins(ctx context.Context) error {
	upstream, stop, err := b.site.upstream(ctx)
	if err != nil {
		return err
	}
	defer stop()
	people, err := b.site.people(ctx)
	if err != nil {
		return err
	}
	defer people.stop()
	sv, err := b.site.caddy(
		ctx, "logins", authCaddyfile, upstream,
		"SVC_AUTH_MODE=token ldap", "BENCH_ISSUER=http://127.0.0.1:1",
		"SVC_LDAP_URL="+people.directory, "SVC_LDAP_CA_FILE="+people.caFile,
		"SVC_LDAP_BIND_DN="+ldaptest.BindDN, "SVC_LDAP_BIND_PASSWORD="+ldaptest.BindPassword,
		"SVC_LDAP_BASE_DN=ou=people,"+ldaptest.BaseDN, "SVC_LDAP_USER_GROUPS="+manyGroup, "SVC_LDAP_CACHE_TTL=0s",
	)
	if err != nil {
		return err
	}
	defer sv.stop()
	l := b.load(sv, oneClient, post("/json", sv.token, requestBody), func() checker { return &exactly{want: responseBody} })
	for round := range b.plan.rounds {
		b.progress("%d logins, round %d", manyLogins, round+1)
		f := loginFigures{First: round == 0}
		if f.Quiet, err = l.measure(ctx); err != nil {
			return err
		}
		if f.Elsewhere, f.TookElsewhere, err = people.during(ctx, l, people.elsewhere); err != nil {
			return err
		}
		if f.Busy, f.Took, err = people.during(ctx, l, "http://"+sv.addr); err != nil {
			return err
		}
		b.report.Logins = append(b.report.Logins, f)
	}
	return nil
}

// during makes the load while all people log in at a server.
func (p *people) during(ctx context.Context, l load, url string) (s sample, took time.Duration, err error) {
	s, err = l.during(ctx, func(context.Context) error {
		begun := time.Now()
		defer func() { took = time.Since(begun) }()
		return p.logIn(url + "/auth/login")
	})
	return s, took, err
}

// openSession logs in for a session that is sent as Bearer, and returns its secret.
func openSession(ctx context.Context, client *http.Client, url string, credentials map[string]string) (string, error) {
	credentials["kind"] = "api"
	body, err := json.Marshal(credentials)
	if err != nil {
		return "", fmt.Errorf("logging in: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("logging in: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("logging in: %w", err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", fmt.Errorf("logging in: %w", err)
	}
	var answer struct{ Token string }
	if err := json.Unmarshal(said, &answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("logging in: %s: %s", resp.Status, said)
	}
	return answer.Token, nil
}
