package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Config is what a catalog works with. Fields without a default are required.
type Config struct {
	Store  Store
	Audit  *audit.Log
	Graphs func() []agents.Agent // the agents that there are now
	Now    func() time.Time      // default time.Now
}

// Catalog knows all assistants. Make it with [New].
type Catalog struct {
	Config
	since time.Time // when the service's own are said to have been made
}

// New returns a catalog.
func New(c Config) *Catalog {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Catalog{Config: c, since: stamp(c.Now())}
}

// stamp is a time as precise as it is kept.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Get finds an assistant by its id, or the one of a graph by the graph's name. The error is [ErrNotFound].
func (c *Catalog) Get(ctx context.Context, p policy.Principal, id string) (Assistant, error) {
	for _, a := range c.system() {
		if a.ID == strings.ToLower(id) || a.Graph == id {
			return a, nil
		}
	}
	parsed, err := uuid.Parse(id)
	if err != nil {
		return Assistant{}, ErrNotFound
	}
	a, err := c.Store.Assistant(ctx, parsed.String())
	if err == nil && !own.Sees(p, a.Owner) {
		return Assistant{}, errors.Join(ErrNotFound, own.Foreign(ctx, c.Audit, p, "assistant", a.ID))
	}
	return a, err
}

// system are the service's own assistants, one for each graph.
func (c *Catalog) system() []Assistant {
	var list []Assistant
	for _, g := range c.Graphs() {
		list = append(list, Assistant{
			ID: ID(g.Name), Graph: g.Name, Name: g.Name, Description: g.Description, Version: 1,
			Metadata: map[string]any{"created_by": "system"}, Created: c.since, Updated: c.since,
		})
	}
	return list
}

// Create makes an assistant of the principal's own over a graph. With an empty id it gets one, with an
// empty name that of its graph. When there is one with its id the error is [ErrExists], or that one is
// returned where reuse says so.
func (c *Catalog) Create(ctx context.Context, p policy.Principal, a Assistant, reuse bool) (Assistant, error) {
	if a.ID == "" {
		a.ID = newID()
	}
	id, err := uuid.Parse(a.ID)
	if err != nil {
		return a, &agents.FieldError{Field: "assistant_id", Message: "must be a UUID such as 0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f; leave it out to get one"}
	}
	a.ID = id.String()
	if err := c.check(&a); err != nil {
		return a, err
	}
	a.Owner, a.Version, a.Created = own.Of(p), 1, stamp(c.Now())
	a.Updated = a.Created
	if a.Name == "" {
		a.Name = a.Graph
	}
	err = ErrExists
	if !slices.ContainsFunc(c.system(), func(s Assistant) bool { return s.ID == a.ID }) {
		err = c.Store.CreateAssistant(ctx, a, MaxAssistants)
	}
	if !errors.Is(err, ErrExists) {
		return a, err
	}
	there, err := c.Get(ctx, p, a.ID)
	if err == nil && reuse {
		return there, nil
	}
	if errors.Is(err, ErrNotFound) || err == nil { // the id is taken, by whomever
		err = ErrExists
	}
	return Assistant{}, err
}

// check says what is wrong with an assistant that somebody wants to keep.
func (c *Catalog) check(a *Assistant) error {
	graphs := c.Graphs()
	if !slices.ContainsFunc(graphs, func(g agents.Agent) bool { return g.Name == a.Graph }) {
		var names []string
		for _, g := range graphs {
			names = append(names, g.Name)
		}
		return &agents.FieldError{Field: "graph_id", Message: "there is no such graph; there are " + strings.Join(names, ", ")}
	}
	for _, f := range []struct{ name, text string }{{"name", a.Name}, {"description", a.Description}} {
		if len(f.text) > MaxText || !utf8.ValidString(f.text) {
			return &agents.FieldError{Field: f.name, Message: fmt.Sprintf("must be text of at most %d bytes", MaxText)}
		}
	}
	for _, f := range []struct {
		name string
		doc  map[string]any
	}{{"config", a.Config}, {"context", a.Context}, {"metadata", a.Metadata}} {
		if doc, err := json.Marshal(f.doc); err != nil || len(doc) > MaxDocument {
			return &agents.FieldError{Field: f.name, Message: fmt.Sprintf("must not be larger than %d bytes", MaxDocument)}
		}
	}
	return checkConfig(a.Config)
}

// checkConfig says what is wrong with a configuration of runs.
func checkConfig(config map[string]any) error {
	if v, there := config["recursion_limit"]; there {
		if n, ok := v.(float64); !ok || n < 1 || n != float64(int(n)) {
			return &agents.FieldError{Field: "config.recursion_limit", Message: "must be a whole number from 1 on"}
		}
	}
	if v, there := config["configurable"]; there && v != nil {
		if _, ok := v.(map[string]any); !ok {
			return &agents.FieldError{Field: "config.configurable", Message: "must be an object"}
		}
	}
	return nil
}
