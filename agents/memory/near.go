package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
)

// Embedder turns texts into vectors, by which what means the same is found in other words.
type Embedder interface {
	// Name says which vectors are comparable.
	Name() string
	// Embed returns a vector of length one for each text.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Near asks for the memories whose vectors are near to one.
type Near struct {
	Owner, Agent string // as in [Query]
	Model        string // the Embedder's name
	Vector       []float32
	Limit        int
}

const (
	embedTogether = 32               // texts that are embedded at once
	embedPause    = 30 * time.Second // for which the server is left alone after it failed
	nearShare     = 0.8              // of the nearest one's score, for others to count
	fused         = 60               // as in reciprocal rank fusion everywhere: how little the first ranks differ
)

// near are the memories that mean what a task is about; none when there is no embedder, or it fails.
func (k *Keeper) near(ctx context.Context, q Query, task string) []Found {
	if k.Embedder == nil || task == "" || k.Now().UnixNano() < k.rests.Load() {
		return nil
	}
	found, err := k.nearest(ctx, q, cut(k.Secrets.Redact(task), maxTask, more))
	if err != nil {
		k.rests.Store(k.Now().Add(embedPause).UnixNano())
		k.Log.Warn("memories are found by their words only, for a while: the embeddings server failed", zap.Error(err))
	}
	return found
}

func (k *Keeper) nearest(ctx context.Context, q Query, task string) ([]Found, error) {
	vectors, err := k.Embedder.Embed(ctx, []string{task})
	if err != nil {
		return nil, err
	}
	return k.Store.NearMemories(ctx, Near{Owner: q.Owner, Agent: q.Agent, Model: k.Embedder.Name(), Vector: vectors[0], Limit: q.Limit})
}

// embed gives vectors to the memories of an owner that have none: those that are new, and those from before
// there was an embedder, or this one.
func (k *Keeper) embed(ctx context.Context, owner string) error {
	for k.Embedder != nil {
		bare, err := k.Store.BareMemories(ctx, owner, k.Embedder.Name(), embedTogether)
		if err != nil || len(bare) == 0 {
			return err
		}
		texts := make([]string, len(bare))
		for i, e := range bare {
			texts[i] = k.Show(e).Text
		}
		vectors, err := k.Embedder.Embed(ctx, texts)
		if err != nil {
			return fmt.Errorf("embedding memories, which are found by their words only: %w", err)
		}
		for i, e := range bare {
			if err := k.Store.KeepVector(ctx, e.ID, k.Embedder.Name(), vectors[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeTo leaves of a list, the best first, what is not much worse than the first.
func closeTo(found []Found, share float64) []Found {
	if i := slices.IndexFunc(found, func(f Found) bool { return f.Score < share*found[0].Score }); i >= 0 {
		return found[:i]
	}
	return found
}

// fuse makes one list of several by the ranks that memories have in them: what scores mean differs.
func fuse(lists ...[]Found) []Found {
	at := map[string]int{}
	var all []Found
	for _, list := range lists {
		for rank, f := range list {
			i, ok := at[f.ID]
			if !ok {
				i = len(all)
				at[f.ID] = i
				f.Score = 0
				all = append(all, f)
			}
			all[i].Score += 1 / float64(fused+rank+1)
		}
	}
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	return all
}
