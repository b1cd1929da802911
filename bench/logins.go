package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// manyLogins is how many people of a directory log in at the same moment.
const manyLogins = 1000

// logins measures requests with a token while nobody logs in, and while everybody does: for the
// first time, when accounts are made, and again.
func (b *bench) logins(ctx context.Context) error {
	upstream, stop, err := b.site.upstream(ctx)
	if err != nil {
		return err
	}
	defer stop()
	dir, err := b.site.folder("slapd")
	if err != nil {
		return err
	}
	directory, err := ldaptest.Start(dir)
	if err != nil {
		return fmt.Errorf("starting a directory (.ci/setup installs slapd): %w", err)
	}
	defer func() { _ = directory.Stop() }() // it was there for this only
	if err := directory.Modify(people(manyLogins)); err != nil {
		return err
	}
	sv, err := b.site.caddy(
		ctx, "logins", authCaddyfile, upstream,
		"SVC_AUTH_MODE=token ldap", "BENCH_ISSUER=http://127.0.0.1:1",
		"SVC_LDAP_URL="+directory.TLSURL, "SVC_LDAP_CA_FILE="+directory.CAFile,
		"SVC_LDAP_BIND_DN="+ldaptest.BindDN, "SVC_LDAP_BIND_PASSWORD="+ldaptest.BindPassword,
		"SVC_LDAP_BASE_DN=ou=people,"+ldaptest.BaseDN, "SVC_LDAP_USER_GROUPS=bench",
	)
	if err != nil {
		return err
	}
	defer sv.stop()
	l := b.load(sv, oneClient, post("/json", sv.token, requestBody), func() checker { return &exactly{want: responseBody} })
	for round := range b.plan.rounds {
		b.progress("%d logins, round %d", manyLogins, round+1)
		quiet, err := l.measure(ctx)
		if err != nil {
			return err
		}
		var took time.Duration
		busy, err := l.during(ctx, func(ctx context.Context) error {
			begun := time.Now()
			defer func() { took = time.Since(begun) }()
			return logInAll(ctx, "http://"+sv.addr+"/auth/login", manyLogins)
		})
		if err != nil {
			return err
		}
		b.report.Logins = append(b.report.Logins, loginFigures{First: round == 0, Quiet: quiet, Busy: busy, Took: took})
	}
	return nil
}

// people are the entries of users, all in one group.
func people(n int) string {
	var users, members strings.Builder
	for i := range n {
		dn := fmt.Sprintf("uid=bench%d,ou=people,%s", i, ldaptest.BaseDN)
		fmt.Fprintf(&users, "dn: %s\nchangetype: add\nobjectClass: inetOrgPerson\ncn: B\nsn: B\nuserPassword: bench-password\n\n", dn)
		fmt.Fprintf(&members, "member: %s\n", dn)
	}
	return fmt.Sprintf("%sdn: cn=bench,ou=groups,%s\nchangetype: add\nobjectClass: groupOfNames\ncn: bench\n%s\n", &users, ldaptest.BaseDN, &members)
}

// logInAll logs everybody in at once, each on a connection of their own.
func logInAll(ctx context.Context, url string, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := logIn(ctx, client, url, fmt.Sprintf("bench%d", i)); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func logIn(ctx context.Context, client *http.Client, url, user string) error {
	_, err := openSession(ctx, client, url, map[string]string{"user": user, "password": "bench-password"})
	return err
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
