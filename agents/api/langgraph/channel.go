package langgraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/api/rest"
)

// channel is what an event of a thread is about.
type channel string

// The channels.
const (
	onValues      channel = "values"      // the state after each step
	onUpdates     channel = "updates"     // what each step changed
	onMessages    channel = "messages"    // messages as they grow, block by block
	onTools       channel = "tools"       // calls as they start and end
	onLifecycle   channel = "lifecycle"   // graphs and subgraphs as they start and end
	onInput       channel = "input"       // what a run waits for
	onCheckpoints channel = "checkpoints" // where a run can be gone on from
	onTasks       channel = "tasks"       // nodes as they start and end
	onCustom      channel = "custom"      // what the gate says of calls
)

var allChannels = []channel{onValues, onUpdates, onMessages, onTools, onLifecycle, onInput, onCheckpoints, onTasks, onCustom}

// customPrefix begins the name of a channel that has the custom events of one name.
const customPrefix = string(onCustom) + ":"

// Bounds of a filter.
const (
	maxChannels   = 64
	maxNamespaces = 256
	maxSegments   = 32
)

// Filter says which events of a thread a client wants.
type Filter struct {
	Channels   []string   `json:"channels" required:"true" nullable:"false" description:"values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom, or custom:{name}"`
	Namespaces [][]string `json:"namespaces,omitempty" nullable:"false" description:"only what is in these namespaces, or below them; default: everything"`
	Depth      *int       `json:"depth,omitempty" nullable:"false" description:"how far below them at most"`
}

// check says what is wrong with a filter.
func (f *Filter) check() error {
	if len(f.Channels) == 0 || len(f.Channels) > maxChannels {
		return rest.Invalid(fmt.Sprintf("channels: must name from 1 to %d channels", maxChannels))
	}
	for i, name := range f.Channels {
		if !slices.Contains(allChannels, channel(name)) && (!strings.HasPrefix(name, customPrefix) || name == customPrefix) {
			return rest.Invalid(fmt.Sprintf("channels[%d]: must be one of %s, custom:{name}, got %q", i, words(allChannels), name))
		}
	}
	if len(f.Namespaces) > maxNamespaces {
		return rest.Invalid(fmt.Sprintf("namespaces: must not be more than %d", maxNamespaces))
	}
	for i, ns := range f.Namespaces {
		if len(ns) > maxSegments {
			return rest.Invalid(fmt.Sprintf("namespaces[%d]: must not have more than %d parts", i, maxSegments))
		}
	}
	if f.Depth != nil && *f.Depth < 0 {
		return rest.Invalid("depth: must not be negative")
	}
	return nil
}

// wants reports whether an event of a channel and a namespace is to be told. name is that of a custom event.
func (f *Filter) wants(c channel, name string, ns []string) bool {
	if !slices.Contains(f.Channels, string(c)) && (c != onCustom || !slices.Contains(f.Channels, customPrefix+name)) {
		return false
	}
	if len(f.Namespaces) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Namespaces, func(prefix []string) bool {
		return within(ns, prefix) && (f.Depth == nil || len(ns)-len(prefix) <= *f.Depth)
	})
}

// within reports whether a namespace is a prefix or below it. A part of the prefix without an id stands for
// all with its name.
func within(ns, prefix []string) bool {
	if len(prefix) > len(ns) {
		return false
	}
	for i, part := range prefix {
		name, _, _ := strings.Cut(ns[i], ":")
		if ns[i] != part && name != part {
			return false
		}
	}
	return true
}
