package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/settings"
)

// StoredToken is the one that login has stored, or empty. It warns on stderr when others can read it.
func StoredToken(home settings.Home) (string, error) {
	text, err := os.ReadFile(home.Token())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	if info, err := os.Stat(home.Token()); err == nil && settings.Exposed(info) {
		fmt.Fprintf(os.Stderr, "Warning: others have rights to %s: chmod 600 it, and replace the token with %s if they may have read it\n", home.Token(), Command("admin rotate-token"))
	}
	return strings.TrimSpace(string(text)), nil
}

// ForToken is the API at address with the stored token, which is sent to the server that it is for and to
// no other: whoever is lured to an address shall not lose the token to it. Without an address it is that
// server; [ErrNotRunning] when it is the service of the data folder and that does not run.
func ForToken(ctx context.Context, home settings.Home, address, token string) (Target, error) {
	server, err := home.TokenServer(token)
	if err != nil {
		return Target{}, err
	}
	servers := []string{server}
	if server == "" {
		servers = running(ctx, home)
	}
	if address == "" && len(servers) == 0 {
		return Target{}, fmt.Errorf("%w: %s, or log in at another one with %s --url URL", ErrNotRunning, toStart(), Command("login"))
	}
	named := address
	if named == "" {
		named = servers[0]
	}
	t, err := OverNetwork(ctx, home, named)
	if err != nil {
		return Target{}, err
	}
	t.Token, t.Named = token, address != "" || server != ""
	i := slices.IndexFunc(servers, like(t.Base))
	if i < 0 {
		of := "the service of " + home.Dir()
		if len(servers) > 0 {
			of = servers[0]
		}
		return Target{}, fmt.Errorf("the stored token is for %s and is not sent to %s: log in there with %s --url %s, or leave --url out",
			of, t.Base, Command("login"), t.Base)
	}
	t.Base = onHost(t.Base, servers[i])
	return t, nil
}

// onHost is an address with the host of a server of the same origin: at the port of another loopback address somebody
// else may listen. With TLS that one has no certificate, and the name is the one that the server has one for.
func onHost(address, server string) string {
	u, err1 := url.Parse(address)
	s, err2 := url.Parse(server)
	if err1 != nil || err2 != nil || u.Scheme == "https" {
		return address
	}
	u.Host = s.Host
	return u.String()
}

// Store makes a token that was accepted at a target the stored one, of a session or not, and notes which
// server it is for.
func Store(ctx context.Context, home settings.Home, at Target, session bool) error {
	server := at.Base
	if slices.ContainsFunc(running(ctx, home), like(at.Base)) {
		server = "" // it is the data folder's own, wherever that will listen
	}
	if err := home.NoteServer(at.Token, server); err != nil {
		return err
	}
	if session {
		return home.WriteSession(at.Token)
	}
	return home.WriteToken(at.Token)
}

// running are the addresses at which this host reaches the service of the data folder; none when it does not
// run.
func running(ctx context.Context, home settings.Home) (bases []string) {
	s, err := NewClient(home).Status(ctx)
	if err != nil {
		return nil
	}
	for _, a := range s.Addresses {
		bases = append(bases, Reachable(a))
	}
	return bases
}

// like returns what reports whether a server is that of an address.
func like(address string) func(server string) bool {
	return func(server string) bool { return origin(server) == origin(address) }
}

// origin is scheme, host and port of an address, where the loopback addresses have one name.
func origin(address string) [3]string {
	u, err := url.Parse(address)
	if err != nil {
		return [3]string{address}
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if host == "127.0.0.1" || host == "::1" {
		host = "localhost"
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return [3]string{u.Scheme, host, port}
}
