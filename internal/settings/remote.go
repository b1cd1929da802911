package settings

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/reach"
)

// Where programs of agents run, for sandbox.provider.
const (
	SandboxLocal   = "local"
	SandboxDaytona = "daytona"
	SandboxRunloop = "runloop"
	SandboxModal   = "modal"
)

// Daytona says how sandboxes of that provider are had.
type Daytona struct {
	// URL is the address of the API. Default: https://app.daytona.io/api.
	URL string
	// Key is where the API key is.
	Key Reference
	// Snapshot is what sandboxes are made from, and Target the region. Default: the provider's.
	Snapshot, Target string
}

// Runloop says how devboxes of that provider are had.
type Runloop struct {
	// URL is the address of the API. Default: https://api.runloop.ai.
	URL string
	// Key is where the API key is.
	Key Reference
	// Blueprint is the name of what devboxes are made from. Default: the provider's.
	Blueprint string
	// NetworkPolicy is the id of the network policy that devboxes get. Default: none.
	NetworkPolicy string
}

// Modal says how sandboxes of that provider are had.
type Modal struct {
	// URL is the address of the API. Default: https://api.modal.com:443.
	URL string
	// TokenID and TokenSecret are the two halves of a token; of the secret one, where it is.
	TokenID     string
	TokenSecret Reference
	// Environment is where the app is. Default: that of the token.
	Environment string
	// App is what the sandboxes belong to. Default: svc.
	App string
	// Image is what they are made from, in a registry. Default: python:3.13-slim-bookworm.
	Image string
}

// For is where programs of an agent run.
func (s Sandbox) For(agent string) string {
	for _, choice := range s.Agents {
		if name, provider, _ := strings.Cut(choice, "="); name == agent {
			return provider
		}
	}
	return s.Provider
}

// Remote are the remote providers that are chosen, or that have a key: sandboxes may be left there.
func (s Sandbox) Remote() []string {
	var all []string
	for _, p := range []string{SandboxDaytona, SandboxRunloop, SandboxModal} {
		if s.chosen(p) || s.key(p) != "" {
			all = append(all, p)
		}
	}
	return all
}

// chosen reports whether programs of any agent run there.
func (s Sandbox) chosen(provider string) bool {
	return s.Provider == provider || slices.ContainsFunc(s.Agents, func(choice string) bool { return strings.HasSuffix(choice, "="+provider) })
}

// key is where the secret of a provider is.
func (s Sandbox) key(provider string) Reference {
	return map[string]Reference{SandboxDaytona: s.Daytona.Key, SandboxRunloop: s.Runloop.Key, SandboxModal: s.Modal.TokenSecret}[provider]
}

// keyName is the setting of it.
func keyName(provider string) string {
	if provider == SandboxModal {
		return "sandbox.modal_token_secret"
	}
	return "sandbox." + provider + "_key"
}

func checkSandboxProvider(v string) error {
	return oneOf(v, "sandbox", SandboxLocal, SandboxDaytona, SandboxRunloop, SandboxModal)
}

// checkSandboxAgents refuses what is not a list of agent=provider.
func checkSandboxAgents(choices []string) error {
	var names []string
	for _, choice := range choices {
		name, provider, ok := strings.Cut(choice, "=")
		if !ok || name == "" {
			return fmt.Errorf("%q is not of the form agent=sandbox, as in core=daytona", choice)
		}
		if err := checkSandboxProvider(provider); err != nil {
			return err
		}
		names = append(names, name)
	}
	return noneTwice(names)
}

// checkRemoteURL never repeats the value: it may have a key in it.
func checkRemoteURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("this is not an address such as https://sandboxes.example.com/api, without a user, a query and a fragment")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !reach.Loopback(u.Hostname())) {
		return errors.New("this is not an https address: the key would go over the network in clear; plain http is for servers on this host")
	}
	return nil
}

// checkRemote looks at what concerns remote sandboxes.
func (s Sandbox) checkRemote() error {
	var errs []error
	for _, p := range s.Remote() {
		if s.key(p) == "" {
			errs = append(errs, About(fmt.Errorf("%s is missing: sandboxes of %s need a key; write {env.NAME} or {file./path}", keyName(p), p), keyName(p), "sandbox.agents", "sandbox.provider"))
		}
	}
	if s.Modal.TokenID == "" && s.Modal.TokenSecret != "" {
		errs = append(errs, About(errors.New("sandbox.modal_token_id is missing: a token of modal has an id and a secret"), "sandbox.modal_token_secret"))
	}
	if s.chosen(SandboxRunloop) && s.Netns == 1 && s.Runloop.NetworkPolicy == "" {
		errs = append(errs, About(errors.New("sandbox.runloop_network_policy is missing: sandbox.netns 1 gives programs no network, and at runloop only a network policy can see to that; name one that allows nothing"), "sandbox.netns"))
	}
	return errors.Join(errs...)
}

// checkSecrets reports a key that is not there.
func (s Sandbox) checkSecrets(env func(string) (string, bool)) error {
	for _, p := range s.Remote() {
		if _, err := s.key(p).Reveal(env); err != nil {
			return About(fmt.Errorf("%s: %w", keyName(p), err), keyName(p))
		}
	}
	return nil
}
