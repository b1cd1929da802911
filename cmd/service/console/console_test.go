//go:build linux

package console_test

import (
	"errors"
	"os"
	"testing"

	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/cmd/service/console"
	"github.com/svc-gateway/svc/policy"
)

func TestAConversation(t *testing.T) {
	s := newService(t)
	v := open(t, s, policy.Admin)
	v.types("how full are the disks?\r")
	r := s.next()
	if r.prompt != "how full are the disks?" {
		t.Errorf("got %q", r.prompt)
	}
	r.send(`{"type":"todos","items":[{"content":"look","status":"in_progress"},{"content":"tell","status":"pending"}]}`)
	v.until("▶ look")
	r.send(`{"type":"tool_use","id":"c1","name":"run_command","input":{"command":"df -h"}}`)
	v.until("run_command df -h")
	r.send(`{"type":"tool_result","id":"c1","name":"run_command","status":"success","duration_ms":1234}`)
	v.until("✓ run_command df -h  1.2 s")
	r.send(`{"type":"usage","usage":{"prompt_tokens":1200,"completion_tokens":34,"total_tokens":1234}}`)
	v.until("1,234 tokens")
	r.say("# Disks\n\nThe disk is **40 %** fu")
	v.until("Disks")
	v.until("The disk is **40 %** fu")
	r.say("ll.\n\n| disk | used |\n|---|---:|\n| /dev/vda | 40 % |\n")
	v.until("The disk is 40 % full.")
	r.done()
	v.until("/dev/vda  40 %")
	v.until("☐ tell")

	v.types("\x1b[A") // what was sent before
	v.until("> how full are the disks?\n")
	v.types("\x15/help\r")
	v.until("calls that wait for approval")
	v.types("\x04")
	if err := v.end(); err != nil {
		t.Errorf("got %v", err)
	}
	v.until("service chat --thread t1")
}

func TestCtrlCCancelsTheRunAndNotTheProgram(t *testing.T) {
	s := newService(t)
	v := open(t, s, policy.User)
	v.types("count to a million\r")
	r := s.next()
	r.say("1, 2, ")
	v.until("1, 2,")
	v.types("\x03")
	if got := <-s.cancelled; got != "/threads/t1/runs/r1/cancel" {
		t.Errorf("got %s", got)
	}
	r.send(`{"type":"error","code":"cancelled","message":"cancelled by ann"}`)
	r.done()
	v.until("Cancelled.")
	v.types("and on\r")
	r = s.next()
	r.say("still here")
	v.until("still here")
	v.types("\x03")
	<-s.cancelled
	v.until("cancelling")
	v.types("\x03")
	if err := v.end(); !errors.Is(err, console.ErrCancelled) {
		t.Errorf("got %v", err)
	}
}

func TestTheConversationGoesOnWithWhatIsThere(t *testing.T) {
	s := newService(t)
	v := open(t, s, policy.User)
	v.types("/agent croe\r")
	v.until("Error: there is no agent croe; did you mean core?")
	v.types("/thread t2\r")
	v.until("Error: there is no thread t2 that you may see; did you mean t1?")
	v.types("/agent core\r")
	v.until("From now on core is asked.")
	v.types("/thread t1\r")
	v.until("The conversation goes on in t1.")
	v.types("hello\r")
	r := s.next()
	if r.agent != "core" || r.path != "/threads/t1/runs/stream" {
		t.Errorf("got a run of %q at %s", r.agent, r.path)
	}
	r.done()
}

func TestAConversationBeginsWithWhatIsThere(t *testing.T) {
	s := newService(t)
	for _, tt := range []struct{ agent, thread, want string }{
		{"croe", "", "there is no agent croe; did you mean core?"},
		{"core", "elsewhere", "there is no thread elsewhere that you may see"},
	} {
		err := console.Run(t.Context(), console.Config{Client: ask.Client{Service: s}, Agent: tt.agent, Thread: tt.thread, In: os.Stdin, Out: os.Stdout})
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}
