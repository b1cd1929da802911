package settings

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// ModelsKey is the list of models beside the default one.
const ModelsKey = "models"

// DefaultModel is how the model of the section model is called where models are named.
const DefaultModel = "default"

// The words that a model's thinking may be set to, beside a number of tokens.
const (
	ThinkingOff      = "off"
	ThinkingAdaptive = "adaptive"
)

// NamedModel is a model that agents name, or that answers when another cannot.
type NamedModel struct {
	// Called is what agents and fallbacks name it.
	Called string
	Model
}

// NamedModels returns the models beside the default one.
func (s Settings) NamedModels() []NamedModel { return namedModels.of(s) }

var namedModels = register(&objects[NamedModel]{
	key: ModelsKey, block: "named_model", one: "a model",
	doc:  "models that agents name, and that answer when another cannot. See [models.md](models.md#several-models)",
	name: func(m *NamedModel) *string { return &m.Called },
	fields: []field[NamedModel]{
		text("provider", "", "`openai` (any server of that protocol), `anthropic`, or `demo`",
			func(m *NamedModel) *string { return &m.Provider }, checkProvider).
			required("write openai, anthropic or demo"),
		text("base_url", "", "address of the model server's API; the provider's own without it",
			func(m *NamedModel) *string { return &m.BaseURL }, checkURL),
		text("model", "", "name of the model on its server; all but `demo` need one",
			func(m *NamedModel) *string { return &m.Name }, nil),
		variable("api_key_env", "environment variable that holds the API key; never the key itself",
			func(m *NamedModel) *string { return &m.APIKeyEnv }),
		number("context_tokens", 100_000, 1000, 10_000_000, "size of the model's window, in tokens",
			func(m *NamedModel) *int { return &m.ContextTokens }),
		number("max_output_tokens", 0, 0, 1_000_000, "tokens that one answer may have; `0` leaves it to the server, and is 8192 for `anthropic`, which has to be told",
			func(m *NamedModel) *int { return &m.MaxOutputTokens }),
		text("thinking", ThinkingOff, "`off`, `adaptive`, or how many tokens a model of `anthropic` may think for, 1024 at least",
			func(m *NamedModel) *string { return &m.Thinking }, checkThinking),
		duration("timeout", "120s", time.Second, time.Hour, "how long one model turn may take",
			func(m *NamedModel) *time.Duration { return &m.Timeout }),
		number("max_retries", 2, 0, 10, "how often a failed request to the model is repeated",
			func(m *NamedModel) *int { return &m.MaxRetries }),
		list("fallback", "", "models that are asked when it is not available, in this order; `default` is the one of the section `model`",
			func(m *NamedModel) *[]string { return &m.Fallback }, noneTwice),
	},
	complete: func(m *NamedModel) error {
		if m.Called == DefaultModel {
			return fmt.Errorf("name: %s is the model of the section model: use another name", DefaultModel)
		}
		return m.complete("model")
	},
	check: func(s Settings, all []NamedModel) error { return checkModels(s.Model, all) },
	used:  func(Settings) bool { return true },
})

// Address is where the model's server is: the provider's own, where the settings name none.
func (m Model) Address() string {
	switch m.Provider {
	case ProviderOpenAI:
		return cmp.Or(m.BaseURL, "https://api.openai.com/v1")
	case ProviderAnthropic:
		return cmp.Or(m.BaseURL, "https://api.anthropic.com")
	}
	return ""
}

// ThinkingTokens is how many tokens the model may think for; adaptive: as many as it likes.
func (m Model) ThinkingTokens() (tokens int, adaptive bool) {
	tokens, _ = strconv.Atoi(m.Thinking) // a word is none
	return tokens, m.Thinking == ThinkingAdaptive
}

// CheckKey reports that the variable with the API key is not set.
func (m Model) CheckKey(env func(string) (string, bool)) error {
	if m.APIKeyEnv == "" || m.Provider == ProviderDemo {
		return nil
	}
	if v, _ := env(m.APIKeyEnv); v == "" {
		return fmt.Errorf("api_key_env names %s, which is not set: put the API key into it, or leave api_key_env out", m.APIKeyEnv)
	}
	return nil
}

// complete looks at what concerns more than one field of a model. The model's name is a field of that name.
func (m Model) complete(name string) error {
	switch {
	case m.Provider == ProviderDemo && m.Name+m.BaseURL+m.APIKeyEnv != "":
		return fmt.Errorf("the demo model has no server: leave %s, base_url and api_key_env out", name)
	case m.Provider != ProviderDemo && m.Name == "":
		return fmt.Errorf("%s is missing: provider %s needs the model's name as the server knows it", name, m.Provider)
	case m.Provider != ProviderAnthropic && m.Thinking != ThinkingOff && m.Thinking != "":
		return errors.New("thinking is for provider anthropic: leave it out")
	}
	return nil
}

// checkModels looks at what concerns several models: whom they fall back on.
func checkModels(first Model, all []NamedModel) error {
	every := append([]NamedModel{{DefaultModel, first}}, all...)
	for i, m := range every {
		at := ModelsKey + ": " + m.Called
		if i == 0 {
			at = "model"
		}
		wrong := func(format string, args ...any) error {
			err := fmt.Errorf(at+"."+format, args...)
			if i == 0 {
				return About(err, "model.provider")
			}
			return About(err, fmt.Sprintf("%s[%d]", ModelsKey, i-1))
		}
		if i > 0 && m.Called == first.Name {
			return wrong("name: that is how the default model is called, too (model.name): use another name")
		}
		for _, name := range m.Fallback {
			j := slices.IndexFunc(every, func(o NamedModel) bool { return o.Called == name })
			switch {
			case j < 0:
				return wrong("fallback: there is no model %q: name one of the list %s, or %s", name, ModelsKey, DefaultModel)
			case j == i:
				return wrong("fallback: it cannot take its own place: leave it out")
			case every[j].Provider == ProviderDemo:
				return wrong("fallback: %s is the demo model, which answers nobody who did not ask for it: leave it out", name)
			}
		}
	}
	return nil
}

// origin is the scheme, host and port of an address that was checked.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Scheme + "://" + u.Host
}

func checkThinking(v string) error {
	if v == ThinkingOff || v == ThinkingAdaptive {
		return nil
	}
	if n, err := strconv.Atoi(v); err != nil || n < 1024 || n > 1_000_000 {
		return fmt.Errorf("%q is neither off nor adaptive nor a number of tokens from 1024 to 1000000", v)
	}
	return nil
}
