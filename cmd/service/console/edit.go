package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"

	tea "charm.land/bubbletea/v2"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

// editedMsg is what came out of the editor.
type editedMsg struct {
	id     string
	before json.RawMessage
	after  []byte
	err    error
}

// edit has the person change the arguments in an editor, as JSON.
func (p *program) edit() tea.Cmd {
	q := p.question
	q.asks = ""
	editor := variable(p.Env, "VISUAL")
	if editor == "" {
		editor = variable(p.Env, "EDITOR")
	}
	if editor == "" {
		editor = "vi"
	}
	dir, err := os.MkdirTemp("", "svc-edit-")
	if err != nil {
		p.complain(fmt.Sprintf("Editing: %v", err))
		return nil
	}
	file := filepath.Join(dir, "arguments.json")
	text, err := asJSON(q.Input)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		p.complain(fmt.Sprintf("Editing: %v", err))
		return nil
	}
	q.busy = true
	// The variable is a command line, and the person's own.
	cmd := exec.CommandContext(p.ctx, "sh", "-c", editor+` "$1"`, "sh", file) //nolint:gosec // see above
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		defer func() { _ = os.RemoveAll(dir) }()
		m := editedMsg{id: q.ID, before: q.Input, err: err}
		if err == nil {
			m.after, m.err = os.ReadFile(file) //nolint:gosec // in a folder of our own
		}
		return m
	})
}

// edited sends what was changed; the question is asked again when that is nothing, or not to be read.
func (p *program) edited(m editedMsg) tea.Cmd {
	q := p.question
	if q == nil || q.ID != m.id {
		return nil
	}
	q.busy = false
	q.disturb("")
	patch, err := patchOf(m)
	if err != nil {
		p.complain(fmt.Sprintf("The call is as it was: %v", err))
		return nil
	}
	p.paper.add("  with these arguments:")
	p.paper.add(p.exactly(q.Tool, m.after)...)
	return p.decide(ask.Decision{Decision: approval.EditFirst, Patch: patch})
}

// patchOf is the merge patch (RFC 7396) that makes the arguments before those after.
func patchOf(m editedMsg) (json.RawMessage, error) {
	if m.err != nil {
		return nil, fmt.Errorf("editing: %w", m.err)
	}
	before, after := fields(m.before), fields(m.after)
	if after == nil || !json.Valid(m.after) {
		return nil, errors.New("what the editor has left is no JSON object")
	}
	patch, err := difference(before, after)
	if err != nil {
		return nil, err
	}
	if len(patch) == 0 {
		return nil, errors.New("nothing was changed")
	}
	return json.Marshal(patch)
}

// difference is a merge patch. None can make a member null.
func difference(before, after map[string]any) (patch map[string]any, err error) {
	patch = map[string]any{}
	for name := range before {
		if _, kept := after[name]; !kept {
			patch[name] = nil
		}
	}
	for name, value := range after {
		old, was := before[name]
		if was && reflect.DeepEqual(old, value) {
			continue
		}
		if value == nil {
			return nil, fmt.Errorf("%s cannot be made null: remove the line, or leave it as it was", ask.Reveal(name))
		}
		patch[name] = value
		if object, ok := value.(map[string]any); ok {
			within, _ := old.(map[string]any)
			if patch[name], err = difference(within, object); err != nil {
				return nil, err
			}
		}
	}
	return patch, nil
}
