package oidctest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Node is the certified provider oidc-provider, which runs in Node.js. It knows the client
// [ClientID] with [ClientSecret], and lets anybody log in with any password: the name is their
// sub and preferred_username.
type Node struct {
	URL string // its issuer identifier

	cmd   *exec.Cmd
	stdin io.Closer
	log   bytes.Buffer
}

// NodeConfig is what the provider knows. Users are more claims of users, by their names.
type NodeConfig struct {
	RedirectURIs   []string
	AfterLogout    []string // where browsers may go afterwards
	LogoutEndpoint string   // where it tells of logouts; empty: nowhere
	Users          map[string]map[string]any
}

// ErrNoNode means that the provider is not installed; .ci/setup does that.
var ErrNoNode = errors.New("oidc-provider is not installed: run .ci/setup")

// StartNode starts the provider on a free port of this host.
func StartNode(c NodeConfig) (*Node, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return nil, errors.New("oidctest: its folder is not known")
	}
	dir := filepath.Join(filepath.Dir(file), "testdata")
	if found, err := filepath.Glob(filepath.Join(dir, "node_modules", "oidc-provider")); err != nil || len(found) == 0 {
		return nil, ErrNoNode
	}
	client := map[string]any{
		"client_id": ClientID, "client_secret": ClientSecret,
		"redirect_uris": c.RedirectURIs, "post_logout_redirect_uris": c.AfterLogout,
	}
	if c.LogoutEndpoint != "" {
		client["backchannel_logout_uri"], client["backchannel_logout_session_required"] = c.LogoutEndpoint, true
	}
	config, err := json.Marshal(map[string]any{"client": client, "users": c.Users})
	if err != nil {
		return nil, err
	}
	n := &Node{cmd: exec.Command("node", "provider.mjs", string(config))}
	n.cmd.Dir, n.cmd.Stderr = dir, &n.log
	if n.stdin, err = n.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := n.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting oidc-provider: %w", err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "http://") {
			n.URL = lines.Text()
			return n, nil
		}
	}
	err = errors.Join(n.stdin.Close(), n.cmd.Wait())
	return nil, fmt.Errorf("starting oidc-provider: %w\n%s", err, n.log.String())
}

// Close ends the provider.
func (n *Node) Close() error {
	return errors.Join(n.stdin.Close(), n.cmd.Wait())
}
