package agents

import (
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/agents/memory/embedding"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/scanner"
)

// newMemory is what the settings make of what agents know from earlier. People see and forget it also when
// agents are not told of it.
func newMemory(a *app.App, opened *host, scan func(string) []scanner.Finding, log *zap.Logger) (*memory.Keeper, error) {
	s := a.Settings().Memory
	c := memory.Config{
		Store: opened.store, Audit: a.Audit(), Log: log, Queue: &opened.learns, Secrets: a.Secrets(), Scan: scan,
		Recall: s.Recall, Capture: memory.Mode(s.Capture), Room: memory.Room{Entries: s.Entries, Bytes: s.Bytes}, HalfLife: s.HalfLife, Keep: s.Keep,
		Since: a.Identity().Since,
	}
	if s.EmbeddingsURL != "" {
		key, err := revealAny("memory.embeddings_key", s.EmbeddingsKey)
		if err != nil {
			return nil, err
		}
		c.Embedder = embedding.New(embedding.Config{URL: s.EmbeddingsURL, Model: s.EmbeddingsModel, Key: model.Secret(key), Timeout: s.EmbeddingsTimeout})
	}
	return memory.New(c), nil
}
