package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// expanding is a tool whose calls are completed to a text, with the arguments that its body gets.
func expanding(to string, got *map[string]any) agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: "expand", Action: policy.Use, Parameters: json.RawMessage(`{"type":"object","required":["id"]}`),
		Expand: func(tc agents.ToolContext, args map[string]any) ([]byte, error) {
			if tc.Principal.User != "ada" || tc.Agent != "core" || tc.Thread == "" || args["id"] != "i" {
				return nil, errors.New("another call")
			}
			if to == "" {
				return nil, errors.New("there is nothing to complete")
			}
			return []byte(to), nil
		},
	}, func(_ context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
		*got = args
		return agents.Result{Text: "fine", Sources: []string{"remote:far", "user"}}, nil
	})
}

// What completes the arguments of a call is what is decided on, recorded, told and done.
func TestExpandedArguments(t *testing.T) {
	var got map[string]any
	f := newFixture(t, callThenAnswer(call("expand", `{"id":"i"}`)), expanding(`{"id":"i","asks":["x"]}`, &got))
	run, events := f.run("core", "go")
	if diff := cmp.Diff(map[string]any{"id": "i", "asks": []any{"x"}}, got); diff != "" {
		t.Errorf("the body gets (-want +got):\n%s", diff)
	}
	if r := f.records(run.ID, audit.ToolStart); len(r) != 1 || r[0].Input != `{"id":"i","asks":["x"]}` {
		t.Errorf("got the record %+v", r)
	}
	told := ""
	for _, e := range events {
		if e.Type == eventlog.ToolUse {
			told = string(e.Input)
		}
	}
	if told != `{"id":"i","asks":["x"]}` {
		t.Errorf("readers are told %s", told)
	}
	// a tool can name more sources of its result, and take none away
	if r := f.records(run.ID, audit.ToolEnd); len(r) != 1 || !cmp.Equal(r[0].Labels, []string{"tool:expand", "remote:far"}) {
		t.Errorf("got the record %+v", r)
	}
}

func TestArgumentsThatCannotBeExpanded(t *testing.T) {
	for name, tc := range map[string]struct{ to, want string }{
		"an error":         {"", "there is nothing to complete"},
		"a name twice":     {`{"id":"i","id":"j"}`, "duplicate"},
		"no object":        {`[1]`, "object"},
		"something broken": {`{"id":`, "invalid_arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			var got map[string]any
			f := newFixture(t, callThenAnswer(call("expand", `{"id":"i"}`)), expanding(tc.to, &got))
			run, _ := f.run("core", "go")
			r := f.records(run.ID, audit.ToolDenied)
			if len(r) != 1 || got != nil || !strings.Contains(strings.Join(r[0].Reasons, " "), tc.want) {
				t.Errorf("got %+v, and the body %v", r, got)
			}
		})
	}
}
