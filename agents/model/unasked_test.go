package model

import (
	"errors"
	"testing"

	"github.com/svc-gateway/svc/agents/model/fakeopenai"
)

// A turn is free only when no attempt of it had begun an answer, shown or not.
func TestUnasked(t *testing.T) {
	thinks := fakeopenai.Turn{Calls: []fakeopenai.Call{{Name: "read_file", Arguments: `{"path":"x"}`}}, Fault: fakeopenai.Cut, After: 1}
	for _, tt := range []struct {
		name  string
		turns []fakeopenai.Turn
		want  bool
	}{
		{"limited", []fakeopenai.Turn{{Status: 429}}, true},
		{"wrong key", []fakeopenai.Turn{{Status: 401}}, true},
		{"overloaded", []fakeopenai.Turn{{Status: 503}}, true},
		{"failed inside", []fakeopenai.Turn{{Status: 500}}, false},
		{"broken off before a text", []fakeopenai.Turn{thinks}, false},
		{"broken off, then limited", []fakeopenai.Turn{thinks, {Status: 429}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := connect(t, fakeopenai.Start(fakeopenai.Sequence(tt.turns...)), Config{MaxRetries: len(tt.turns) - 1})
			_, err := m.Turn(t.Context(), request("go"), nil)
			if err == nil || errors.Is(err, ErrUnasked) != tt.want {
				t.Errorf("got %v, want one that is unasked: %v", err, tt.want)
			}
		})
	}
	s := fakeopenai.Start(fakeopenai.Always(fakeopenai.Turn{}))
	m, _ := connect(t, s, Config{})
	s.Close()
	if _, err := m.Turn(t.Context(), request("go"), nil); !errors.Is(err, ErrUnasked) {
		t.Errorf("a server that is gone: got %v", err)
	}
}
