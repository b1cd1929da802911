package assistant

import (
	"context"
	"fmt"
	"maps"

	"github.com/svc-gateway/svc/agents/page"
	"github.com/svc-gateway/svc/internal/within"
	"github.com/svc-gateway/svc/policy"
)

// Patch changes an assistant. Fields that are nil stay; names of the metadata are put beside those that
// there are.
type Patch struct {
	Graph       *string
	Name        *string
	Description *string
	Config      map[string]any
	Context     map[string]any
	Metadata    map[string]any
}

func (p *Patch) apply(a *Assistant) {
	for _, f := range []struct{ to, from *string }{{&a.Graph, p.Graph}, {&a.Name, p.Name}, {&a.Description, p.Description}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if p.Config != nil {
		a.Config = p.Config
	}
	if p.Context != nil {
		a.Context = p.Context
	}
	if p.Metadata != nil {
		a.Metadata = maps.Clone(a.Metadata)
		if a.Metadata == nil {
			a.Metadata = map[string]any{}
		}
		maps.Copy(a.Metadata, p.Metadata)
	}
}

// changeable finds an assistant that may be changed.
func (c *Catalog) changeable(ctx context.Context, p policy.Principal, id string) (Assistant, error) {
	a, err := c.Get(ctx, p, id)
	if err == nil && a.System() {
		err = ErrReadOnly
	}
	return a, err
}

// attempts is how often a change is tried that others were faster with.
const attempts = 10

// Update makes a new version of an assistant, which becomes the present one.
func (c *Catalog) Update(ctx context.Context, p policy.Principal, id string, patch Patch) (Assistant, error) {
	for range attempts {
		a, err := c.changeable(ctx, p, id)
		if err != nil {
			return a, err
		}
		patch.apply(&a)
		if err := c.check(&a); err != nil {
			return a, err
		}
		a.Updated = stamp(c.Now())
		kept, changed, err := c.Store.AddVersion(ctx, a, MaxVersions)
		if changed || err != nil {
			return kept, err
		}
	}
	return Assistant{}, fmt.Errorf("changing the assistant: others changed it %d times meanwhile", attempts)
}

// Versions lists a page of an assistant's versions, the newest first, with some metadata.
func (c *Catalog) Versions(ctx context.Context, p policy.Principal, id string, metadata map[string]any, limit, offset int) ([]Assistant, error) {
	if err := page.Bounds(limit, offset); err != nil {
		return nil, err
	}
	a, err := c.Get(ctx, p, id)
	if err != nil {
		return nil, err
	}
	all := []Assistant{a}
	if !a.System() {
		if all, err = c.Store.AssistantVersions(ctx, a.ID); err != nil {
			return nil, err
		}
	}
	list := []Assistant{}
	for _, v := range all {
		if !within.JSON(v.Metadata, metadata) {
			continue
		}
		if offset > 0 {
			offset--
		} else if len(list) < limit {
			list = append(list, v)
		}
	}
	return list, nil
}

// SetLatest makes a version of an assistant the present one.
func (c *Catalog) SetLatest(ctx context.Context, p policy.Principal, id string, version int) (Assistant, error) {
	a, err := c.Get(ctx, p, id)
	switch {
	case err != nil:
		return a, err
	case a.System() && version == a.Version:
		return a, nil
	case a.System():
		return a, ErrVersionNotFound
	}
	return c.Store.SetVersion(ctx, a.ID, version)
}

// Delete removes an assistant with its versions. Runs that were started with it go on.
func (c *Catalog) Delete(ctx context.Context, p policy.Principal, id string) error {
	a, err := c.changeable(ctx, p, id)
	if err != nil {
		return err
	}
	return c.Store.DeleteAssistant(ctx, a.ID)
}
