package model

import (
	"errors"
	"net/url"
	"strings"
	"time"
)

// Config says where a model is and how long to be patient with it.
type Config struct {
	// Called is what the settings call the model, for errors that name a setting. Empty: the default one.
	Called string
	// BaseURL is the address of the API: of [NewOpenAI] up to and without /chat/completions, for example
	// https://api.openai.com/v1 or http://127.0.0.1:11434/v1 (Ollama); of [NewAnthropic] up to and without
	// /v1/messages. It must not contain credentials, a query or a fragment.
	BaseURL string
	// Model is the model's name as its server knows it.
	Model string
	// APIKey is sent to that server and to no other. Empty: none is sent.
	APIKey Secret
	// MaxOutput is how many tokens one answer may have. 0 leaves it to the server; a server that has to be
	// told is told 8192.
	MaxOutput int
	// Thinking is how many tokens a model of [NewAnthropic] may think for before it answers, 1024 or more.
	// 0: it does not think.
	Thinking int
	// Adaptive lets such a model think as much as it finds necessary.
	Adaptive bool
	// Timeout bounds one turn with all its attempts. Default 2 minutes.
	Timeout time.Duration
	// IdleTimeout bounds the silence between two pieces of an answer once it has
	// begun. Default 1 minute.
	IdleTimeout time.Duration
	// MaxRetries is how often a turn is asked again after a refused or broken
	// connection, 429, 500, 502, 503 or 529, as long as nothing was given to delta.
	// Default 0.
	MaxRetries int
}

const (
	defaultTimeout     = 2 * time.Minute
	defaultIdleTimeout = time.Minute
)

// field names a setting of the model as its owner finds it.
func (c Config) field(name string) string {
	switch {
	case c.Called == "":
		return "model." + name
	case name == "name":
		name = "model"
	}
	return name + " of the model " + c.Called
}

// check refuses what cannot work, naming the setting that is wrong, and fills in the defaults. end is what the
// address must stop before, home an example of one.
func (c *Config) check(end, example string) error {
	base, err := c.baseURL(end, example)
	if err != nil {
		return err
	}
	c.BaseURL = base
	switch {
	case strings.TrimSpace(c.Model) == "":
		return errors.New(c.field("name") + " is empty; set it to a model that the server at " + c.field("base_url") + " has")
	case strings.ContainsAny(c.APIKey.Reveal(), "\r\n\x00"):
		return errors.New("the API key named by " + c.field("api_key_env") + " contains a line break")
	case c.Timeout < 0, c.IdleTimeout < 0:
		return errors.New(c.field("timeout") + " is negative; set a duration such as 2m")
	case c.MaxRetries < 0:
		return errors.New(c.field("max_retries") + " is negative; set 0 or more")
	case c.MaxOutput < 0:
		return errors.New(c.field("max_output_tokens") + " is negative; set 0 or more")
	case c.Thinking < 0:
		return errors.New(c.field("thinking") + " is negative; set off, adaptive or 1024 and more")
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = defaultIdleTimeout
	}
	return nil
}

// baseURL checks an API address. No error repeats the address: it may hold a secret.
func (c *Config) baseURL(end, example string) (string, error) {
	u, err := url.Parse(c.BaseURL)
	var wrong string
	switch {
	case c.BaseURL == "":
		wrong = " is empty; set the address of the API, for example " + example
	case err != nil:
		wrong = " is not a URL; an example is " + example
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		wrong = " must begin with http:// or https:// and a host"
	case u.User != nil:
		wrong = " contains credentials; put the key into the environment variable named by " + c.field("api_key_env")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		wrong = " must not have a query or a fragment"
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), end):
		wrong = " must end before " + end
	default:
		return strings.TrimRight(u.String(), "/") + "/", nil
	}
	return "", errors.New(c.field("base_url") + wrong)
}
