package agents

import (
	"os"

	"github.com/svc-gateway/svc/agents/fetch"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

// newWeb is what the settings make of asking web servers.
func newWeb(s settings.Settings, secrets *redact.Secrets) (fetch.Config, error) {
	c, err := fetch.FromSettings(s.Fetch)
	if err != nil {
		return c, err
	}
	c.Secrets = secrets
	c.Credentials, err = fetch.ReadCredentials(s.HTTPCredentials(), os.LookupEnv)
	return c, err
}
