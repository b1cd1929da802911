package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/remote/protocol"
	"github.com/svc-gateway/svc/internal/strictjson"
)

// Asks are what a remote waits for.
type Asks struct {
	List []Ask `json:"list,omitempty"`
	// Unfit says why it cannot be shown to people, and so not be answered. Empty: it can.
	Unfit string `json:"unfit,omitempty"`
}

// Ask is one thing that a remote waits for: leave for a call, or an answer to a question.
type Ask struct {
	Interrupt   string          `json:"interrupt"`             // id at the remote
	Action      string          `json:"action,omitempty"`      // the tool that it wants to call
	Args        json.RawMessage `json:"args,omitempty"`        // of that call, an object
	Description string          `json:"description,omitempty"` // what the remote says of it
	Allowed     []string        `json:"allowed,omitempty"`     // what may be decided; none: everything
	Question    json.RawMessage `json:"question,omitempty"`    // instead of an action: any value
}

// Decision is what becomes of an action: approve, reject or edit.
type Decision struct {
	Type    string  `json:"type"`
	Message string  `json:"message,omitempty"`
	Edited  *Edited `json:"edited_action,omitempty"`
}

// Edited is the call that is made instead of the one that was asked for.
type Edited struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// The types of decisions.
const (
	approve = "approve"
	reject  = "reject"
	edit    = "edit"
)

// payload is what chat UIs know: calls that a person decides on.
type payload struct {
	Actions []struct {
		Name        string          `json:"name"`
		Args        json.RawMessage `json:"args"`
		Description string          `json:"description"`
	} `json:"action_requests"`
	Reviews []struct {
		Action  string   `json:"action_name"`
		Allowed []string `json:"allowed_decisions"`
	} `json:"review_configs"`
}

// readAsks makes of what a remote waits for what people are shown.
func readAsks(all []protocol.Interrupt) *Asks {
	list, err := asksOf(all)
	if err == nil {
		var doc []byte
		if doc, err = encode(list); err == nil && len(doc) > maxAsks {
			err = fmt.Errorf("it has more than %d KiB", maxAsks>>10)
		}
	}
	if err != nil {
		return &Asks{Unfit: err.Error()}
	}
	return &Asks{List: list}
}

func asksOf(all []protocol.Interrupt) ([]Ask, error) {
	var list []Ask
	ids := map[string]bool{}
	for _, i := range all {
		if ids[i.ID] || i.ID == "" && len(all) > 1 {
			return nil, errors.New("several things that it asks for have one id, or none")
		}
		ids[i.ID] = true
		if err := strictjson.Check(i.Value); err != nil {
			return nil, errors.New("it is not JSON that every reader understands in the same way")
		}
		var p payload
		if err := json.Unmarshal(i.Value, &p); err != nil || len(p.Actions) == 0 {
			list = append(list, Ask{Interrupt: i.ID, Question: i.Value})
			continue
		}
		for _, a := range p.Actions {
			ask := Ask{Interrupt: i.ID, Action: a.Name, Args: a.Args, Description: a.Description}
			if a.Name == "" || !bytes.HasPrefix(bytes.TrimSpace(a.Args), []byte("{")) {
				return nil, errors.New("one of its actions has no name, or no object of arguments")
			}
			for _, r := range p.Reviews {
				if r.Action == a.Name {
					ask.Allowed = r.Allowed
				}
			}
			list = append(list, ask)
		}
	}
	if len(list) > maxAsked {
		return nil, fmt.Errorf("it has more than %d parts", maxAsked)
	}
	return list, nil
}

// questions reports whether something other than leave for a call is asked for.
func (a *Asks) questions() bool {
	return slices.ContainsFunc(a.List, func(k Ask) bool { return k.Action == "" })
}

// decided are the decisions on all actions: those that are given or, without any, a yes to each.
func (a *Asks) decided(given []Decision) ([]Decision, error) {
	var actions []Ask
	for _, k := range a.List {
		if k.Action != "" {
			actions = append(actions, k)
		}
	}
	if given == nil {
		given = slices.Repeat([]Decision{{Type: approve}}, len(actions))
	}
	if len(given) != len(actions) {
		return nil, fmt.Errorf("decisions: the remote asks for %d actions, and %d decisions are given: give one for each, in their order", len(actions), len(given))
	}
	for n, d := range given {
		k := actions[n]
		switch {
		case len(k.Allowed) > 0 && !slices.Contains(k.Allowed, d.Type):
			return nil, fmt.Errorf("decisions[%d].type: the remote takes %s for %s", n, strings.Join(k.Allowed, ", "), k.Action)
		case d.Type == edit && (d.Edited == nil || !bytes.HasPrefix(bytes.TrimSpace(d.Edited.Args), []byte("{"))):
			return nil, fmt.Errorf("decisions[%d].edited_action: give the name and all args of the call to make instead", n)
		case d.Type != edit && d.Edited != nil:
			return nil, fmt.Errorf("decisions[%d].edited_action: has no meaning with the type %s", n, d.Type)
		}
	}
	return given, nil
}

// resume is the answer in the form of the protocol: values by the ids of what is answered.
func (a *Asks) resume(decisions []Decision, answer json.RawMessage) (json.RawMessage, error) {
	byID := map[string]any{}
	for _, k := range a.List {
		if k.Action == "" {
			byID[k.Interrupt] = answer
			continue
		}
		said, _ := byID[k.Interrupt].(map[string][]Decision)
		if said == nil {
			said = map[string][]Decision{}
			byID[k.Interrupt] = said
		}
		said["decisions"], decisions = append(said["decisions"], decisions[0]), decisions[1:]
	}
	if alone, ok := byID[""]; ok {
		return encode(alone)
	}
	return encode(byID)
}

// encode writes JSON as people read it.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
