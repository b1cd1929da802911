package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/tcpport"
)

// site is where services are started: a temporary folder and the program.
type site struct{ dir, binary string }

// The configurations that are compared. The admin socket is for the memory figures.
const (
	bareCaddyfile = `{
	admin "unix/{$BENCH_ADMIN}|0600"
	persist_config off
	auto_https off
}
:{$BENCH_PORT} {
	bind 127.0.0.1
	reverse_proxy {$BENCH_UPSTREAM}
}
`
	stagesCaddyfile = `{
	admin "unix/{$BENCH_ADMIN}|0600"
	persist_config off
	auto_https off
	svc
}
:{$BENCH_PORT} {
	bind 127.0.0.1
	svc_auth
	svc_scan
	svc_redact
	svc_stream
	reverse_proxy {$BENCH_UPSTREAM}
}
`
	agentsCaddyfile = `{
	admin "unix/{$BENCH_ADMIN}|0600"
	persist_config off
	auto_https off
	svc
}
:{$BENCH_PORT} {
	bind 127.0.0.1
	svc_auth
	svc_scan
	svc_redact
	svc_stream
	svc_agents
}
`
)

// stageNames are the stages of stagesCaddyfile.
var stageNames = []string{"svc_auth", "svc_scan", "svc_redact", "svc_stream"}

// withStages returns the Caddyfile with only the stages that are named.
func withStages(caddyfile string, names []string) (string, error) {
	for _, name := range names {
		if !slices.Contains(stageNames, name) {
			return "", fmt.Errorf("-stages: unknown stage %q: want some of %s", name, strings.Join(stageNames, ","))
		}
	}
	for _, name := range stageNames {
		if !slices.Contains(names, name) {
			caddyfile = strings.Replace(caddyfile, "\t"+name+"\n", "", 1)
		}
	}
	return caddyfile, nil
}

// folder makes a folder of the site.
func (s site) folder(name string) (string, error) {
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a folder: %w", err)
	}
	return dir, nil
}

// env is the environment of a service with this data folder; nothing of ours leaks into it.
func (s site) env(home string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SVC_HOME=" + home, "SVC_AUTH_MODE=token",
		"SVC_LIMITS_RUNS_PER_MINUTE=1000000", "SVC_LIMITS_PARALLEL_RUNS=100000", "SVC_LIMITS_STREAMS_PER_USER=100000",
		"SVC_LIMITS_REQUESTS_PER_MINUTE=10000000", "SVC_LIMITS_REQUESTS_BURST=100000",
	}, more...)
}

// command runs the program to its end and returns what it prints.
func (s site) command(ctx context.Context, env []string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, s.binary, args...)
	c.Env = env
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("running service %v: %w: %s", args, err, bytes.TrimSpace(said.Bytes()))
	}
	return out.Bytes(), nil
}

// addUser makes a user and returns the token.
func (s site) addUser(ctx context.Context, home, name, role string) (string, error) {
	out, err := s.command(ctx, s.env(home), "admin", "add-user", name, "--role", role, "--json")
	if err != nil {
		return "", err
	}
	var user struct{ Token string }
	if err := json.Unmarshal(out, &user); err != nil {
		return "", fmt.Errorf("reading the new user: %w", err)
	}
	if user.Token == "" {
		return "", errors.New("reading the new user: there is no token")
	}
	return user.Token, nil
}

// caddy starts the program with a Caddyfile in front of the upstream. The service's token is of
// an ordinary user.
func (s site) caddy(ctx context.Context, name, caddyfile, upstream string, env ...string) (*service, error) {
	home, err := s.folder(name)
	if err != nil {
		return nil, err
	}
	port, err := tcpport.Reserve()
	if err != nil {
		return nil, err
	}
	defer port.Close() // the service has it then
	config := filepath.Join(home, "Caddyfile")
	if err := os.WriteFile(config, []byte(caddyfile), 0o600); err != nil {
		return nil, fmt.Errorf("writing a configuration: %w", err)
	}
	token, err := s.addUser(ctx, home, "bench", "user")
	if err != nil {
		return nil, err
	}
	sv := &service{name: name, addr: port.Addr(), token: token, home: home, admin: filepath.Join(home, "a.sock")}
	env = append(env, "BENCH_PORT="+port.String(), "BENCH_ADMIN="+sv.admin, "BENCH_UPSTREAM="+upstream)
	return sv, sv.start(ctx, exec.Command(s.binary, "run", "--config", config, "--adapter", "caddyfile"), s.env(home, env...))
}

// bareHandler builds and starts Caddy with one waiting handler, see testdata/barehandler.
func (s site) bareHandler(ctx context.Context, name string) (*service, error) {
	home, err := s.folder(name)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(home, "barehandler")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./bench/testdata/barehandler")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the service is built
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building Caddy with a bare handler: %w (bench has to run in the root of the repository)\n%s", err, out)
	}
	port, err := tcpport.Reserve()
	if err != nil {
		return nil, err
	}
	defer port.Close() // the service has it then
	sv := &service{name: name, addr: port.Addr(), home: home, admin: filepath.Join(home, "a.sock")}
	return sv, sv.start(ctx, exec.Command(program, sv.addr, sv.admin), s.env(home))
}

// web starts the service as people do, but as a child.
func (s site) web(ctx context.Context, name string, env ...string) (*service, error) {
	home, err := s.folder(name)
	if err != nil {
		return nil, err
	}
	port, err := tcpport.Reserve()
	if err != nil {
		return nil, err
	}
	defer port.Close() // the service has it then
	token, err := s.addUser(ctx, home, "bench", "admin")
	if err != nil {
		return nil, err
	}
	sv := &service{name: name, addr: port.Addr(), token: token, home: home}
	return sv, sv.start(ctx, exec.Command(s.binary, "web", "start", "--foreground", "--host", "127.0.0.1", "--port", port.String()), s.env(home, env...))
}

// upstream starts the mock upstream and returns its address.
func (s site) upstream(ctx context.Context) (string, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("finding the program: %w", err)
	}
	c := exec.CommandContext(ctx, self, upstreamCommand)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return "", nil, fmt.Errorf("starting the upstream: %w", err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, fmt.Errorf("starting the upstream: %w", err)
	}
	if err := c.Start(); err != nil {
		return "", nil, fmt.Errorf("starting the upstream: %w", err)
	}
	stop := func() {
		in.Close()
		_ = c.Wait() // its figures are over
	}
	var addr string
	if _, err := fmt.Fscanln(out, &addr); err != nil {
		stop()
		return "", nil, fmt.Errorf("reading the upstream's address: %w", err)
	}
	return addr, stop, nil
}
