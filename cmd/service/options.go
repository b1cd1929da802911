package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/caddymodule/app/commands"
	"github.com/svc-gateway/svc/internal/settings"
)

// The flag that lets a start begin with an audit log that is not what it was.
const (
	acceptFlag  = "accept-new-audit"
	acceptUsage = "start although the audit log is missing, another one, shorter than it was or changed; that is recorded"
)

// builtIn is the name of the configuration that has no file.
const builtIn = "built-in Caddyfile"

func init() {
	commands.UseBuiltIn(commands.BuiltIn{Name: builtIn, Caddyfile: svc.Caddyfile, Check: checkPort})
}

// startOptions are the flags of web start.
type startOptions struct {
	host, port, config string
	set                []string
	foreground         bool
	acceptNewAudit     bool
	autoApprove        bool
	sandbox            string
}

// args gives the flags back as they were given.
func (o startOptions) args() []string {
	var all []string
	for flag, v := range map[string]string{"--host": o.host, "--port": o.port, "--config": o.config, "--sandbox": o.sandbox} {
		if v != "" {
			all = append(all, flag, v)
		}
	}
	for _, s := range o.set {
		all = append(all, "--set", s)
	}
	if o.acceptNewAudit {
		all = append(all, "--"+acceptFlag)
	}
	if o.autoApprove {
		all = append(all, "--auto-approve")
	}
	return all
}

// apply checks the flags and hands them on: --set to the settings, --host and --port to the
// placeholders of the Caddyfile.
func (o startOptions) apply() error {
	values, err := commands.ParseSet(o.set)
	if err != nil {
		return err
	}
	if o.autoApprove {
		values["approvals.auto"] = "true"
	}
	if o.sandbox != "" {
		if err := settings.CheckFlag("sandbox.provider", o.sandbox); err != nil {
			return cli.Usagef("--sandbox: %q is not a sandbox: use local, daytona, runloop or modal", o.sandbox)
		}
		values["sandbox.provider"] = o.sandbox
	}
	app.SetFlags(values)
	if o.acceptNewAudit {
		app.AcceptNewAudit()
	}
	if o.port != "" {
		if !isPort(o.port) {
			return cli.Usagef("--port: %q is not a port: use 1 to 65535", o.port)
		}
		if err := os.Setenv("SVC_PORT", o.port); err != nil {
			return fmt.Errorf("setting the port: %w", err)
		}
	}
	if err := checkPort(); err != nil {
		return err
	}
	if o.host != "" {
		if strings.ContainsAny(o.host, " \t{}/") {
			return cli.Usagef("--host: %q is not an address or host name", o.host)
		}
		if err := os.Setenv("SVC_HOST", o.host); err != nil {
			return fmt.Errorf("setting the host: %w", err)
		}
	}
	return nil
}

// settings are those that a start with these flags would have.
func (o startOptions) settings(warnings io.Writer, home settings.Home) (settings.Settings, error) {
	if err := o.apply(); err != nil {
		return settings.Settings{}, err
	}
	doc, err := commands.Adapt(o.config, warnings)
	if err != nil {
		return settings.Settings{}, err
	}
	written, err := app.Sections(doc)
	if err != nil {
		return settings.Settings{}, err
	}
	s, _, err := app.Resolve(home, written)
	return s, err
}

// checkPort looks at what the built-in Caddyfile takes for its port.
func checkPort() error {
	if p := os.Getenv("SVC_PORT"); p != "" && !isPort(p) {
		return fmt.Errorf("SVC_PORT is %q, which is not a port: set it to a number (Kubernetes sets it for a service named svc; enableServiceLinks: false ends that)", p)
	}
	return nil
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && n <= 65535
}

// configuration returns Caddy's JSON of the configuration, with the app svc in it. Warnings go
// to w.
func (o startOptions) configuration(w io.Writer) ([]byte, error) {
	doc, err := commands.Adapt(o.config, w)
	if err != nil {
		return nil, err
	}
	if o.config != "" {
		for flag, env := range map[string]string{"host": "SVC_HOST", "port": "SVC_PORT"} {
			given := map[string]string{"host": o.host, "port": o.port}[flag]
			if given == "" {
				continue
			}
			used, err := uses(o.config, doc, env)
			if err != nil {
				return nil, err
			}
			if !used {
				return nil, cli.Usagef("--%s has no effect: %s does not use {$%s}; write it into the Caddyfile, or leave --%s out", flag, o.config, env, flag)
			}
		}
	}
	return withApp(doc)
}

// uses reports whether the configuration depends on the variable: whether another value makes
// another configuration.
func uses(path string, doc []byte, env string) (bool, error) {
	if bytes.Contains(doc, []byte("{env."+env+"}")) {
		return true, nil
	}
	value := os.Getenv(env)
	other := map[string]string{"SVC_HOST": "192.0.2.1", "SVC_PORT": "65535"}[env]
	if value == other {
		other = map[string]string{"SVC_HOST": "192.0.2.2", "SVC_PORT": "65534"}[env]
	}
	if err := os.Setenv(env, other); err != nil {
		return false, fmt.Errorf("trying %s: %w", env, err)
	}
	changed, err := commands.Adapt(path, io.Discard)
	return !bytes.Equal(doc, changed), errors.Join(err, os.Setenv(env, value))
}

// withApp makes sure that the app svc runs, because web stop and web status ask it.
func withApp(doc []byte) ([]byte, error) {
	var config, apps map[string]json.RawMessage
	if err := json.Unmarshal(doc, &config); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	if raw := config["apps"]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &apps); err != nil {
			return nil, fmt.Errorf("reading the configuration: %w", err)
		}
	}
	if _, ok := apps["svc"]; ok {
		return doc, nil
	}
	if apps == nil {
		apps = map[string]json.RawMessage{}
	}
	if config == nil {
		config = map[string]json.RawMessage{}
	}
	apps["svc"] = json.RawMessage("{}")
	raw, err := json.Marshal(apps)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	config["apps"] = raw
	return json.Marshal(config)
}
