package agents

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/model"
)

func frame(agent string, messages ...model.Message) Frame {
	return Frame{Agent: agent, Messages: messages}
}

func TestNext(t *testing.T) {
	ask := model.Message{Role: model.RoleUser, Content: "q"}
	answered := model.Message{Role: model.RoleAssistant, Content: "a"}
	calling := model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "1"}, {ID: "2"}}}
	with := func(f Frame, s ...CallStatus) Frame {
		for i, status := range s {
			f.Calls = append(f.Calls, Call{ToolCall: model.ToolCall{ID: fmt.Sprint(i)}, Status: status})
		}
		return f
	}
	child := frame("core", ask, answered)
	child.Opener = &CallRef{0, 0}
	closed := child
	closed.Closed = true
	thinking := frame("core", ask)
	thinking.Thinking = true
	for _, tc := range []struct {
		name   string
		frames []Frame
		failed bool
		want   string
	}{
		{"a question is thought about", []Frame{frame("a", ask)}, false, "think{0}"},
		{"once", []Frame{thinking}, false, ""},
		{"an answer ends the run", []Frame{frame("a", ask, answered)}, false, "finish{}"},
		{"a failure does too", []Frame{frame("a", ask)}, true, "finish{}"},
		{"all calls are made", []Frame{with(frame("a", ask, calling), CallProposed, CallProposed)}, false, "act{{0 0}} act{{0 1}}"},
		{"those that are not made yet", []Frame{with(frame("a", ask, calling), CallStarted, CallProposed)}, false, "act{{0 1}}"},
		{"and their results awaited", []Frame{with(frame("a", ask, calling), CallStarted, CallDenied)}, false, ""},
		{"a sub-agent's answer goes back", []Frame{with(frame("a", ask, calling), CallStarted, CallProposed), child}, false, "act{{0 1}} giveBack{1}"},
		{"a call that waits is left alone", []Frame{with(frame("a", ask, calling), CallWaiting, CallSuccess)}, false, ""},
		{"while the others are made", []Frame{with(frame("a", ask, calling), CallWaiting, CallProposed)}, false, "act{{0 1}}"},
		{"once only", []Frame{with(frame("a", ask, calling), CallStarted, CallDenied), closed}, false, ""},
	} {
		r := &Run{Frames: tc.frames}
		if tc.failed {
			r.Failure = &Failure{Code: "x"}
		}
		if got := spell(r.next()); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

// spell names effects and what they concern.
func spell(effects []effect) string {
	var words []string
	for _, e := range effects {
		words = append(words, strings.TrimPrefix(fmt.Sprintf("%T%v", e, e), "agents."))
	}
	return strings.Join(words, " ")
}

// TestNextIsPureAndRunsEnd plays random runs to their end and asks twice at each step.
func TestNextIsPureAndRunsEnd(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := &Run{Frames: []Frame{frame("a", model.Message{Role: model.RoleUser})}}
		for step := 0; ; step++ {
			before := fmt.Sprintf("%+v", r.Frames)
			first, second := r.next(), r.next()
			if spell(first) != spell(second) || before != fmt.Sprintf("%+v", r.Frames) {
				t.Fatalf("seed %d: next changed something or is not a function of the run", seed)
			}
			if len(first) == 0 && r.waits() {
				r.woken()
				continue
			}
			if len(first) == 0 || step > 10_000 {
				t.Fatalf("seed %d: stuck after %d steps", seed, step)
			}
			if _, over := first[0].(finish); over {
				break
			}
			play(r, random, first[random.IntN(len(first))])
		}
	}
}

// play carries out one effect with a random result, as the driver would.
func play(r *Run, random *rand.Rand, e effect) {
	switch e := e.(type) {
	case think:
		m := model.Message{Role: model.RoleAssistant, Content: "a"}
		if r.Steps < 20 {
			for range random.IntN(3) {
				m.ToolCalls = append(m.ToolCalls, model.ToolCall{Name: "t"})
			}
		}
		r.Steps++
		r.proposed(e.frame, m, 1)
	case act:
		if random.IntN(4) == 0 {
			r.held(e.CallRef)
			return
		}
		if e.Frame == 0 && random.IntN(3) == 0 {
			r.opened(e.CallRef, "sub", model.Message{Role: model.RoleUser}, &intent{}, 0)
			return
		}
		r.done(e.CallRef, outcome{status: CallSuccess})
	case giveBack:
		r.Frames[e.frame].Closed = true
		r.done(*r.Frames[e.frame].Opener, outcome{status: CallSuccess})
	}
}
