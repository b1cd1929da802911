package api_test

import (
	"testing"
)

func TestGraphLook(t *testing.T) {
	s := newServer(t, parrot{})
	thread := s.thread("ada")
	for _, m := range []string{"values", "updates", "messages", "messages-tuple", "tasks", "checkpoints", "debug", "events"} {
		body := ask("hello")
		body["stream_mode"] = []string{m}
		body["assistant_id"] = "quick"
		st, h, b := s.do("ada", "POST", "/threads/"+thread+"/runs/stream", body)
		t.Log(m, st, h, "\n", b)
	}
	body := ask("hello")
	body["assistant_id"] = "quick"
	st, h, b := s.do("ada", "POST", "/threads/"+thread+"/runs/wait", body)
	t.Log(st, h, b)
	st, h, b = s.do("ada", "POST", "/threads/"+thread+"/runs", body)
	t.Log(st, h, b)
	st, h, b = s.do("ada", "GET", "/threads/"+thread, nil)
	t.Log(st, h, b)
	st, h, b = s.do("ada", "GET", "/threads/"+thread+"/state", nil)
	t.Log(st, h, b)
}
