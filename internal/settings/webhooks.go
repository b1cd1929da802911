package settings

import (
	"errors"
	"fmt"
)

// Webhooks says which servers may be told of the ends of runs, when a request asks for it.
type Webhooks struct {
	// Hosts are the servers, see [reach.ParseHost]. Default: none, and such requests are refused.
	Hosts []string
	// Reach are addresses and networks that are not public and that these servers may be at, see
	// [reach.ParseNetwork]. Default: none.
	Reach []string
	// Secret signs each message. Required with Hosts.
	Secret Reference
}

func (w Webhooks) check() error {
	if len(w.Hosts) > 0 && w.Secret == "" {
		return About(errors.New("webhooks.secret is missing: whoever receives a webhook tells by the signature that it is from here"), "webhooks.hosts")
	}
	return nil
}

func (w Webhooks) checkSecrets(env func(string) (string, bool)) error {
	if len(w.Hosts) == 0 {
		return nil
	}
	secret, err := w.Secret.Reveal(env)
	if err != nil {
		return About(fmt.Errorf("webhooks.secret: %w", err), "webhooks.secret")
	}
	if len(secret) < leastSecret {
		return About(fmt.Errorf("webhooks.secret: the secret has %d bytes: use %d or more, openssl rand -hex 32 makes some", len(secret), leastSecret), "webhooks.secret")
	}
	return nil
}
