package langgraph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/api/rest"
)

// mode is what a stream tells of a run.
type mode string

// The stream modes.
const (
	modeValues      mode = "values"         // the state after each step
	modeUpdates     mode = "updates"        // what each step changed
	modeMessages    mode = "messages"       // messages as they grow
	modeTuple       mode = "messages-tuple" // pieces of messages
	modeCustom      mode = "custom"         // what the gate says of calls
	modeEvents      mode = "events"         // what the library's callbacks would tell
	modeDebug       mode = "debug"          // checkpoints and tasks
	modeTasks       mode = "tasks"
	modeCheckpoints mode = "checkpoints"
	modeTools       mode = "tools" // calls as they start and end

	always mode = "" // told whatever is asked for
)

var allModes = []mode{modeValues, modeUpdates, modeMessages, modeTuple, modeCustom, modeEvents, modeDebug, modeTasks, modeCheckpoints, modeTools}

// readModes reads what a client asks for: one mode or several; values, when it does not say.
func readModes(doc json.RawMessage, where string) ([]mode, error) {
	names, ok := oneOrSeveral(doc)
	if !ok {
		return nil, rest.Invalid(where + ": must be a stream mode, or several in an array")
	}
	return namedModes(names, where)
}

// queryModes reads the modes of a query: repeated, or an array of JSON. None: what the run was asked with.
func queryModes(params []string, where string) ([]mode, error) {
	names := selectedNames(params)
	if len(names) == 0 {
		return nil, nil
	}
	return namedModes(names, where)
}

func namedModes(names []string, where string) ([]mode, error) {
	var modes []mode
	for i, name := range names {
		m := mode(name)
		if !slices.Contains(allModes, m) {
			return nil, rest.Invalid(fmt.Sprintf("%s[%d]: must be one of %s, got %q", where, i, words(allModes), name))
		}
		if !slices.Contains(modes, m) {
			modes = append(modes, m)
		}
	}
	if len(modes) == 0 {
		modes = []mode{modeValues}
	}
	return modes, nil
}

func words[T ~string](list []T) string {
	all := make([]string, len(list))
	for i, w := range list {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}
