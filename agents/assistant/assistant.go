package assistant

import (
	"errors"
	"maps"
	"time"

	"github.com/google/uuid"
)

// Bounds of what users make.
const (
	MaxAssistants = 1000     // of a user
	MaxVersions   = 1000     // of an assistant
	MaxText       = 1024     // bytes of a name or a description
	MaxDocument   = 64 << 10 // bytes of config, of context and of metadata as JSON
)

// Errors of this package. Those about what was sent are of the type [*agents.FieldError].
var (
	ErrNotFound        = errors.New("assistant not found")
	ErrVersionNotFound = errors.New("the assistant has no such version")
	ErrExists          = errors.New("there is an assistant with this id")
	ErrReadOnly        = errors.New("the assistant belongs to the service and does not change")
	ErrFull            = errors.New("the limit of assistants or of versions is reached")
)

// Assistant is a graph with a configuration.
type Assistant struct {
	ID          string         `json:"id"`
	Owner       string         `json:"-"` // empty: the service
	Graph       string         `json:"graph"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Config      map[string]any `json:"config,omitempty"` // tags, recursion_limit, configurable
	Context     map[string]any `json:"context,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Version     int            `json:"-"` // from 1
	Created     time.Time      `json:"created"`
	Updated     time.Time      `json:"updated"` // when this version was made
}

// System reports whether the assistant belongs to the service.
func (a *Assistant) System() bool { return a.Owner == "" }

// Under is what a run of the assistant works with: the run's own configuration and context, and the
// assistant's where the run says nothing. What is configurable is put together name by name.
func (a *Assistant) Under(config, context map[string]any) (c, ctx map[string]any) {
	c = over(a.Config, config)
	mine, _ := a.Config["configurable"].(map[string]any)
	its, _ := config["configurable"].(map[string]any)
	if len(mine) > 0 && len(its) > 0 {
		c["configurable"] = over(mine, its)
	}
	return c, over(a.Context, context)
}

// over is an object with what another has besides, which counts where both have something.
func over(low, high map[string]any) map[string]any {
	both := maps.Clone(low)
	if both == nil {
		both = map[string]any{}
	}
	maps.Copy(both, high)
	return both
}

// space is the namespace in which ids of graphs' own assistants are made, as public servers of the
// protocol have it: an agent of one name has the same id everywhere.
var space = uuid.MustParse("6ba7b821-9dad-11d1-80b4-00c04fd430c8")

// ID is the id of a graph's own assistant.
func ID(graph string) string { return uuid.NewSHA1(space, []byte(graph)).String() }

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic(err) // crypto/rand does not fail on a working system
	}
	return id.String()
}
