package scan

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/classifier"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

// What becomes of a body about which the classifier does not tell.
const (
	failOpen   = "open"
	failClosed = "closed"
)

// Classifier is a classifier outside, such as a guard model of the operator's own, and how it is asked.
type Classifier struct {
	// Where texts are sent, with POST: an http or https address without user, query and fragment. Required.
	URL string `json:"url"`

	// What is done about its findings of high confidence: "log", "annotate" or "block", as for actions.
	// Default: "annotate".
	Action string `json:"action,omitempty"`

	// The shape of calls: "plain", a small protocol of our own, or "openai", that of POST
	// /v1/moderations. Default: "plain".
	Shape string `json:"shape,omitempty"`

	// The name of the model, for a server that has several. Default: none is sent.
	Model string `json:"model,omitempty"`

	// Where the key is that is sent as a bearer token: {env.NAME} or {file./path}. Default: none.
	APIKey string `json:"api_key,omitempty"`

	// A file in PEM form with the authorities of the server's certificate. Default: those of the system.
	CAFile string `json:"ca_file,omitempty"`

	// How long one call may take, up to a minute, waiting for a place included. Default: "2s".
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// The least score of a finding of high confidence, above 0 and up to 1. Default: 0.5.
	Threshold float64 `json:"threshold,omitempty"`

	// What becomes of a body when the classifier does not tell: "open" lets it pass, "closed" answers
	// 503. Default: "closed" if the action is "block", else "open".
	Fail string `json:"fail,omitempty"`

	// How many calls have to fail in a row for the server to be left alone. Default: 5.
	Failures int `json:"failures,omitempty"`

	// For how long it is left alone, up to an hour. Then one call tries it. Default: "30s".
	Pause caddy.Duration `json:"pause,omitempty"`

	// How much of the texts of a body, and of each text of a stream, is sent, in bytes, up to 16 MiB.
	// Default: 65536 (64 KiB).
	MaxText int64 `json:"max_text,omitempty"`

	// How much is sent with one call, in bytes, at least 256. Default: 8192 (8 KiB).
	Piece int64 `json:"piece,omitempty"`

	// How many calls may be on their way at the same time. Default: 8.
	Calls int `json:"calls,omitempty"`

	// Whether texts are sent with the credentials that are in them. Default: they are taken out.
	Unredacted bool `json:"unredacted,omitempty"`

	asks *classifier.Classifier
}

// config is the configuration without its key.
func (c *Classifier) config() classifier.Config {
	return classifier.Config{
		URL: c.URL, Shape: c.Shape, Model: c.Model, CAFile: c.CAFile, Timeout: time.Duration(c.Timeout), Threshold: c.Threshold,
		Failures: c.Failures, Pause: time.Duration(c.Pause), MaxText: int(c.MaxText), Piece: int(c.Piece), Calls: c.Calls, Unchanged: c.Unredacted,
	}
}

// check refuses what cannot be, without I/O.
func (c *Classifier) check() error {
	if c == nil {
		return nil
	}
	conf := c.config()
	if c.APIKey != "" {
		if err := settings.Reference(c.APIKey).Check(); err != nil {
			return fmt.Errorf("api_key: %w", err)
		}
		conf.Key = "a key" // whether there is one matters
	}
	switch {
	case c.URL == "":
		return errors.New("url is missing: write where texts are sent, such as http://127.0.0.1:8400/classify")
	case c.Action != "" && !slices.Contains(actionNames, c.Action):
		return fmt.Errorf("action: unknown value %q: want log, annotate or block", c.Action)
	case c.Fail != "" && c.Fail != failOpen && c.Fail != failClosed:
		return fmt.Errorf("fail: unknown value %q: want open or closed", c.Fail)
	case c.Fail == failClosed && c.action() == actionLog:
		return errors.New("fail: closed refuses bodies, while the action is to log: write fail open, or another action")
	}
	return conf.Check()
}

// action is what is done about findings.
func (c *Classifier) action() string { return cmp.Or(c.Action, actionAnnotate) }

// closed reports whether a body is refused about which the classifier does not tell.
func (c *Classifier) closed() bool {
	return c.Fail == failClosed || c.Fail == "" && c.action() == actionBlock
}

// provision makes the classifier ready.
func (c *Classifier) provision(log *zap.Logger, secrets *redact.Secrets) error {
	if c == nil {
		return nil
	}
	err := c.check()
	if err != nil {
		return err
	}
	conf := c.config()
	conf.Log, conf.Secrets = log, secrets
	if c.APIKey != "" {
		key, err := settings.Reference(c.APIKey).Reveal(os.LookupEnv)
		if err != nil {
			return fmt.Errorf("api_key: %w", err)
		}
		conf.Key = classifier.Secret(key)
	}
	c.asks, err = classifier.New(conf)
	return err
}

// Cleanup lets go of the connections to the classifier.
func (h *Handler) Cleanup() error {
	if h.Classifier != nil && h.Classifier.asks != nil {
		h.Classifier.asks.Close()
	}
	return nil
}
