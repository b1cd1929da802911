package settings

import (
	"errors"
	"fmt"
	"net/url"
)

// leastSecret is the length of a secret that signs, in bytes.
const leastSecret = 32

// checkWebhook never repeats the value: services put a key into such addresses.
func checkWebhook(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return errors.New("this is not an address such as https://alerts.example.com/svc, without a user and a fragment")
	}
	return nil
}

func (a Approvals) check() error {
	if a.WebhookURL == "" {
		return nil
	}
	if u, err := url.Parse(a.WebhookURL); err == nil && u.Scheme == "http" && !a.WebhookPrivate {
		return About(errors.New("approvals.webhook_url: http shows everybody on the way what waits: use https, or set approvals.webhook_private for a server of your own"), "approvals.webhook_url")
	}
	if a.WebhookSecret == "" {
		return About(errors.New("approvals.webhook_secret is missing: whoever receives the webhook tells by the signature that it is from here"), "approvals.webhook_url")
	}
	return nil
}

func (a Approvals) checkSecrets(env func(string) (string, bool)) error {
	if a.WebhookURL == "" {
		return nil
	}
	secret, err := a.WebhookSecret.Reveal(env)
	if err != nil {
		return About(fmt.Errorf("approvals.webhook_secret: %w", err), "approvals.webhook_secret")
	}
	if len(secret) < leastSecret {
		return About(fmt.Errorf("approvals.webhook_secret: the secret has %d bytes: use %d or more, openssl rand -hex 32 makes some", len(secret), leastSecret), "approvals.webhook_secret")
	}
	return nil
}
