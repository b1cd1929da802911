package langgraph

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
)

// run is the log of a run with a call.
var run = []eventlog.Event{
	{Type: eventlog.Message, Message: "a1", Calls: []model.ToolCall{{ID: "call_1", Name: "get_weather", Arguments: `{"city":"Paris"}`}}},
	{Type: eventlog.ToolUse, Call: "call_1", Name: "get_weather", Status: "started", Input: json.RawMessage(`{"city":"Paris"}`)},
	{Type: eventlog.Result, Call: "call_1", Name: "get_weather", Status: "success", Content: "sunny"},
	{Type: eventlog.Chunk, Message: "a2", Content: "It is "},
	{Type: eventlog.Chunk, Message: "a2", Content: "sunny"},
	{Type: eventlog.Message, Message: "a2", Content: "It is sunny", Streamed: true},
	{Type: eventlog.Done, Status: "success"},
}

// waiting is the log of a run with a call that waits, as far as that, and what comes after a decision.
var waiting = []eventlog.Event{
	{Type: eventlog.Message, Message: "a1", Calls: []model.ToolCall{{ID: "call_1", Name: "run_command", Arguments: `{"command":"rm -r x"}`}}},
	{Type: eventlog.Wait, Call: "call_1", Leave: "call_1", Name: "run_command", Input: json.RawMessage(`{"command":"rm -r x"}`), Content: "This deletes a folder."},
	{Type: eventlog.Paused},
	{Type: eventlog.Decided, Call: "call_1", Leave: "call_1", Name: "run_command", Status: "approved"},
	{Type: eventlog.ToolUse, Call: "call_1", Name: "run_command", Status: "started"},
	{Type: eventlog.Result, Call: "call_1", Name: "run_command", Status: "success", Content: "done"},
	{Type: eventlog.Message, Message: "a2", Content: "Done."},
	{Type: eventlog.Done, Status: "success"},
}

// nested is the log of a run with a sub-agent.
var nested = []eventlog.Event{
	{Type: eventlog.Message, Message: "a1", Calls: []model.ToolCall{{ID: "call_1", Name: "delegate", Arguments: `{}`}}},
	{Type: eventlog.ToolUse, Call: "call_1", Name: "delegate", Status: "started"},
	{Type: eventlog.Opened, Frame: 1, Agent: "core", Call: "call_1", Message: "t1", Content: "look"},
	{Type: eventlog.Message, Frame: 1, Message: "b1", Content: "seen"},
	{Type: eventlog.Result, Call: "call_1", Name: "delegate", Status: "success", Content: "seen"},
	{Type: eventlog.Message, Message: "a2", Content: "seen"},
	{Type: eventlog.Done, Status: "success"},
}

// translated is what a log becomes for a reader of some modes.
func translated(log []eventlog.Event, subgraphs bool, modes ...mode) []told {
	input := []model.Message{{ID: "h1", Role: model.RoleUser, Content: "weather please"}}
	t := newTranslator(about{Run: "r", Thread: "t", Assistant: "core", Created: time.Unix(0, 0)}, modes, subgraphs)
	t.head()
	t.open(agents.Opening{Input: input, Messages: input, Given: 1, Step: agents.BeforeFirst})
	for _, e := range log {
		t.add(e)
	}
	return t.take()
}

func names(events []told) string {
	var all []string
	for _, e := range events {
		all = append(all, e.name)
	}
	return strings.Join(all, " ")
}

// The orders are those of the published server, but for the end.
func TestOrders(t *testing.T) {
	for _, tc := range []struct {
		name      string
		log       []eventlog.Event
		subgraphs bool
		modes     []mode
		want      string
	}{
		{"values", run, false, []mode{modeValues}, "metadata values values values values end"},
		{"updates", run, false, []mode{modeUpdates}, "metadata updates updates updates end"},
		{"messages", run, false, []mode{modeMessages}, "metadata messages/complete messages/metadata messages/partial messages/complete messages/complete " +
			"messages/metadata messages/partial messages/partial messages/partial messages/complete end"},
		{"messages-tuple", run, false, []mode{modeTuple}, "metadata messages messages messages messages messages end"},
		{"custom", run, false, []mode{modeCustom}, "metadata custom end"},
		{"tasks", run, false, []mode{modeTasks}, "metadata tasks tasks tasks tasks tasks tasks end"},
		{"checkpoints", run, false, []mode{modeCheckpoints}, "metadata checkpoints checkpoints checkpoints checkpoints checkpoints end"},
		{"debug", run, false, []mode{modeDebug}, "metadata" + strings.Repeat(" debug", 11) + " end"},
		{"several", run, false, []mode{modeValues, modeTuple, modeUpdates}, "metadata values messages updates values messages updates values messages messages messages updates values end"},
		{"an interrupt", waiting[:3], false, []mode{modeValues, modeUpdates}, "metadata values updates values updates values end"},
		{
			"an interrupt and its answer", waiting, false,
			[]mode{modeValues, modeUpdates},
			"metadata values updates values updates values end metadata values updates values updates values end",
		},
		{"a sub-agent unseen", nested, false, []mode{modeUpdates}, "metadata updates updates updates end"},
		{"a sub-agent", nested, true, []mode{modeUpdates}, "metadata updates updates|tools:call_1 updates updates end"},
		{
			"a failure", append(run[:2:2], eventlog.Event{Type: eventlog.Error, Code: "step_limit", Content: "too long"}, eventlog.Event{Type: eventlog.Done, Status: "error"}),
			false,
			[]mode{modeUpdates},
			"metadata updates error",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := names(translated(tc.log, tc.subgraphs, tc.modes...)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestShapes(t *testing.T) {
	events := translated(waiting[:3], false, modeUpdates)
	var update struct {
		Interrupts []Interrupt `json:"__interrupt__"`
	}
	if err := json.Unmarshal(events[2].data, &update); err != nil {
		t.Fatal(err)
	}
	want := []Interrupt{{ID: agents.InterruptID("r", 0, 2, "tools"), Value: InterruptValue{
		Actions: []ActionRequest{{
			Name: "run_command", Args: json.RawMessage(`{"command":"rm -r x"}`), Description: "This deletes a folder.", ToolCallID: "call_1", Approval: "call_1",
		}},
		Reviews: []ReviewConfig{{"run_command", []string{"approve", "edit", "reject"}}},
	}}}
	if d := cmp.Diff(want, update.Interrupts); d != "" {
		t.Error(d)
	}
	for _, tc := range []struct {
		mode mode
		at   int
		want string
	}{
		{modeUpdates, 1, `{"agent":{"messages":[{"content":"","additional_kwargs":{},"response_metadata":{},"id":"a1","type":"ai",` +
			`"tool_calls":[{"name":"get_weather","args":{"city":"Paris"},"id":"call_1","type":"tool_call"}],` +
			`"tool_call_chunks":[{"name":"get_weather","args":"{\"city\":\"Paris\"}","id":"call_1","index":0,"type":"tool_call_chunk"}],"invalid_tool_calls":[]}]}}`},
		{modeUpdates, 2, `{"tools":{"messages":[{"content":"sunny","additional_kwargs":{},"response_metadata":{},"id":"` + agents.ResultID("call_1") +
			`","type":"tool","tool_call_id":"call_1","name":"get_weather","status":"success"}]}}`},
		{modeValues, 1, `{"messages":[{"content":"weather please","additional_kwargs":{},"response_metadata":{},"id":"h1","type":"human"}]}`},
		{modeUpdates, 4, `null`},
	} {
		if got := string(translated(run, false, tc.mode)[tc.at].data); got != tc.want {
			t.Errorf("%s %d: got  %s\nwant %s", tc.mode, tc.at, got, tc.want)
		}
	}
}

// An event has one number, whatever else is asked for, and the numbers grow.
func FuzzNumbers(f *testing.F) {
	f.Add(uint16(1), uint16(2), false)
	f.Add(uint16(0xffff), uint16(5), true)
	f.Fuzz(func(t *testing.T, a, b uint16, subgraphs bool) {
		pick := func(bits uint16) (modes []mode) {
			for i, m := range allModes {
				if bits&(1<<i) != 0 {
					modes = append(modes, m)
				}
			}
			return modes
		}
		for _, log := range [][]eventlog.Event{run, waiting, nested} {
			seen := map[int]string{}
			for _, events := range [][]told{translated(log, subgraphs, pick(a)...), translated(log, true, pick(b)...)} {
				last := -1
				for _, e := range events {
					if e.id <= last {
						t.Fatalf("%d after %d", e.id, last)
					}
					last = e.id
					what := fmt.Sprintf("%s %s", e.name, e.data)
					if was, ok := seen[e.id]; ok && was != what {
						t.Fatalf("%d is %s and %s", e.id, was, what)
					}
					seen[e.id] = what
				}
			}
		}
	})
}
