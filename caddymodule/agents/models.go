package agents

import (
	"fmt"
	"os"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/model/router"
	"github.com/svc-gateway/svc/agents/spending"
	"github.com/svc-gateway/svc/internal/settings"
)

// Models are the models that the settings describe, the default one first.
func Models(s settings.Settings) ([]router.Named, error) {
	first, err := newModel("", s.Model)
	if err != nil {
		return nil, err
	}
	all := []router.Named{{Name: settings.DefaultModel, Also: first.Name(), Model: first, Window: s.Model.ContextTokens, Fallback: s.Model.Fallback}}
	for _, n := range s.NamedModels() {
		m, err := newModel(n.Called, n.Model)
		if err != nil {
			return nil, err
		}
		all = append(all, router.Named{Name: n.Called, Model: m, Window: n.ContextTokens, Fallback: n.Fallback})
	}
	if len(all) > 1 && all[0].Also == all[1].Name {
		all[0].Also = ""
	}
	return all, nil
}

func newModels(s settings.Settings, log *zap.Logger) (*router.Router, error) {
	all, err := Models(s)
	if err != nil {
		return nil, err
	}
	return router.New(log, all[0], all[1:]...)
}

func newModel(called string, s settings.Model) (model.Model, error) {
	tokens, adaptive := s.ThinkingTokens()
	c := model.Config{
		Called: called, BaseURL: s.Address(), Model: s.Name, APIKey: model.Secret(os.Getenv(s.APIKeyEnv)),
		MaxOutput: s.MaxOutputTokens, Thinking: tokens, Adaptive: adaptive, Timeout: s.Timeout, MaxRetries: s.MaxRetries,
	}
	switch s.Provider {
	case settings.ProviderDemo:
		return model.NewDemo(), nil
	case settings.ProviderOpenAI:
		return model.NewOpenAI(c)
	case settings.ProviderAnthropic:
		return model.NewAnthropic(c)
	}
	return nil, fmt.Errorf("model.provider: unknown provider %q; use demo, openai or anthropic", s.Provider)
}

// withWindows tells agents with a model of their own how much it can be shown.
func withWindows(all []agents.Agent, m *router.Router) []agents.Agent {
	for i := range all {
		if all[i].Model != "" {
			all[i].Window = m.Window(all[i].Model)
		}
	}
	return all
}

// withBudget bounds what a model is used for in a day; without a budget nothing is counted.
func withBudget(m model.Model, b settings.Budget, store spending.Store, log *zap.Logger) model.Model {
	most := spending.Most{
		User: spending.Used{Tokens: int64(b.UserTokens), Calls: int64(b.UserCalls)},
		All:  spending.Used{Tokens: int64(b.Tokens), Calls: int64(b.Calls)},
	}
	if most == (spending.Most{}) {
		return m
	}
	return spending.Model(m, spending.Config{Store: store, Most: most, Log: log})
}
