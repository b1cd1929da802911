package mcp

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/internal/certpool"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Sandbox runs a program until it ends or ctx does, however long that is.
type Sandbox interface {
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
}

// Config says which server is used and how. Name, Pins, and one of Command and URL are required.
type Config struct {
	Name string

	Command []string // a program and its arguments
	Host    bool     // it runs beside the sandbox
	Env     []string // its variables, each as NAME=value, beside the fixed ones
	Read    []string // what it sees of the host in the sandbox
	Write   []string // what it may change there
	Network sandbox.Network
	Sandbox Sandbox // needed unless Host

	URL       string         // of a server that speaks streamable HTTP
	Key       string         // sent to it; empty: none
	KeyHeader string         // default: Authorization, with Bearer before the key
	Roots     *x509.CertPool // default: those of the system

	Actions map[string]policy.Action // of the tools for which it is declared; calls of others ask for approval
	Timeout time.Duration            // of a call. Default: 60s
	Pins    string                   // folder with what was approved, and with one for each program on the host
	Version string                   // of this program, which the server is told

	// Scan finds injections in what describes a tool. Required.
	Scan func(text string) []scanner.Finding
	Log  *zap.Logger
	// Tell is called with a stable word when the server has stopped working, and with none when it works
	// again. Default: nobody is told.
	Tell func(reason string)
	// Egress is told of each connection that the program asks the proxy of its sandbox for. Default: nobody is.
	Egress func(sandbox.Egress)
	// Offered is called when the server has listed other tools than before. Default: nobody is told.
	Offered func(Status)

	// Set by [Open]: hide takes its variables, its key and whatever looks like a secret out of what it says;
	// mask its variables and its key alone, for texts that people approve and must see.
	hide func(string) string
	mask *strings.Replacer
}

// conceal makes hide and mask. Values too short to be known again stay.
func (c *Config) conceal() {
	values := []string{c.Key}
	for _, v := range c.Env {
		_, value, _ := strings.Cut(v, "=")
		values = append(values, value)
	}
	values = slices.DeleteFunc(values, func(v string) bool { return len(v) < 8 })
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, v, redact.Mark)
	}
	var none *redact.Secrets
	c.hide, c.mask = none.With(values...).Redact, strings.NewReplacer(pairs...)
}

// FromSettings is the configuration that the settings describe, without what the runtime has: Sandbox,
// Pins, Scan, Log and Tell. lookup is [os.LookupEnv].
func FromSettings(m settings.MCPServer, lookup func(string) (string, bool)) (Config, error) {
	c := Config{
		Name: m.Name, Command: m.Command, Host: m.Place == settings.PlaceHost, Read: m.Read, Write: m.Write, Network: sandbox.Network(m.Network),
		URL: m.URL, KeyHeader: m.KeyHeader, Timeout: m.Timeout, Actions: map[string]policy.Action{}, Version: settings.Version,
	}
	for _, name := range m.Environment {
		v, ok := lookup(name)
		if !ok {
			return c, fmt.Errorf("mcp_server %s: environment: %s is not set: set it, or take it off the list", m.Name, name)
		}
		c.Env = append(c.Env, name+"="+v)
	}
	for _, t := range m.Use {
		c.Actions[t] = policy.Use
	}
	for _, t := range m.Mutate {
		c.Actions[t] = policy.Mutate
	}
	var err error
	if m.Key != "" {
		if c.Key, err = m.Key.Reveal(lookup); err != nil {
			return c, fmt.Errorf("mcp_server %s: key: %w", m.Name, err)
		}
	}
	if m.CAFile != "" {
		if c.Roots, err = certpool.Read(m.CAFile); err != nil {
			return c, fmt.Errorf("mcp_server %s: ca_file: %w", m.Name, err)
		}
	}
	return c, nil
}

// origin tells the server from any other that has its name.
func (c *Config) origin() Origin { return Origin{c.Command, c.Host, c.URL} }

// environment is what a program on the host gets.
func (c *Config) environment() []string {
	return slices.Concat([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=" + c.folder(), "TMPDIR=" + c.folder(),
	}, c.Env)
}

// folder is where a program on the host works, and has its home and what it keeps for a while: interpreters
// load modules from there.
func (c *Config) folder() string { return filepath.Join(c.Pins, c.Name) }

// where is where the server is, for people: not the path of an address, which may be a secret.
func (c *Config) where() string {
	switch {
	case c.URL != "":
		u, err := url.Parse(c.URL)
		if err != nil {
			return "at an address that cannot be read"
		}
		return u.Scheme + "://" + u.Host
	case c.Host:
		return "on the host"
	}
	return "in the sandbox"
}
