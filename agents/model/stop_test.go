package model

import (
	"testing"

	"github.com/svc-gateway/svc/agents/model/fakeanthropic"
	"github.com/svc-gateway/svc/agents/model/fakeopenai"
)

// Why an answer ends, in the words of each protocol.
func TestStop(t *testing.T) {
	for finish, want := range map[string]Stop{"": StopDone, "stop": StopDone, "length": StopLength, "content_filter": StopRefused} {
		for _, whole := range []bool{false, true} {
			s := fakeopenai.Start(fakeopenai.Always(fakeopenai.Turn{Text: []string{"The disk"}, Finish: finish, Whole: whole}))
			m, _ := connect(t, s, Config{})
			if res, err := m.Turn(t.Context(), request("How full?"), nil); err != nil || res.Stop != want {
				t.Errorf("openai %q: got %q, %v, want %q", finish, res.Stop, err, want)
			}
		}
	}
	for stop, want := range map[string]Stop{"": StopDone, "max_tokens": StopLength, "refusal": StopRefused, "pause_turn": StopDone} {
		s := fakeanthropic.Start(fakeanthropic.Always(fakeanthropic.Turn{Text: []string{"The disk"}, Stop: stop}))
		m, _ := connectAnthropic(t, s, Config{})
		if res, err := m.Turn(t.Context(), request("How full?"), nil); err != nil || res.Stop != want {
			t.Errorf("anthropic %q: got %q, %v, want %q", stop, res.Stop, err, want)
		}
	}
}
