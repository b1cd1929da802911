//go:build linux

package console_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-gateway/svc/cmd/service/console"
	"github.com/svc-gateway/svc/policy"
)

// Nothing that comes from the service drives the terminal, wherever it is shown.
func TestHostileText(t *testing.T) {
	s := newService(t)
	v := open(t, s, policy.Admin)
	const attack = `\u001b]52;c;ZXZpbA==\u0007\u001b]0;owned\u0007\u001b[2J\u001b[1;1H\u009b31m\u202eevil\u2066\u001bP1q\u001b\\\u0008\u000d`
	v.types("go\r")
	r := s.next()
	r.send(`{"type":"message_chunk","content":"open ` + attack + `"}`)
	v.until("evil")
	r.send(`{"type":"message_chunk","content":"\n\n&#27;]0;entity&#7; &#x202e;\n\n` + "```" + attack + `\n` + attack + `\n` + "```" + `\n\n[` + attack + `](http://x/` + attack + `)\n\n| ` + attack + ` |\n|---|\n| a |\n\n<b ` + attack + `>\n\n"}`)
	r.send(`{"type":"tool_use","id":"c1","name":"x` + attack + `","input":{"command":"` + attack + `"}}`)
	r.send(`{"type":"tool_result","id":"c1","status":"` + attack + `"}`)
	r.send(`{"type":"todos","items":[{"content":"` + attack + `","status":"pending"}]}`)
	r.send(`{"type":"compacted","content":"` + attack + `"}`)
	r.send(`{"type":"guardrail","status":"` + attack + `","content":"` + attack + `"}`)
	r.send(`{"type":"tool_use","id":"c2","name":"y","input":{"` + attack + `":1},"status":"denied","reason":"` + attack + `"}`)
	r.require("z"+strings.ReplaceAll(attack, `\`, `\\`), `{"`+attack+`":"`+attack+`"}`, false)
	r.send(`{"type":"approval_decided","id":"call_1","tool":"` + attack + `","decision":"` + attack + `","reason":"` + attack + `"}`)
	r.send(`{"type":"error","code":"` + attack + `","message":"` + attack + `"}`)
	r.done()
	v.until("Error: ")
	got := v.raw()
	for _, bad := range []string{"\x1b]52", "\x1b]0", "\x1bP", "\u009b", "\x1b[31mevil", "\u202e", "\u2066", "\a"} {
		if strings.Contains(got, bad) {
			t.Errorf("the terminal got %q", bad)
		}
	}
	if v.vt.Title() != "" {
		t.Errorf("the title is %q", v.vt.Title())
	}
}

func TestResize(t *testing.T) {
	s := newService(t)
	v := open(t, s, policy.Admin)
	v.types("go\r")
	r := s.next()
	v.resize(40, 12)
	v.types("typed meanwhile, and longer than the line is now")
	v.until("is now")
	r.say(strings.Repeat("word ", 30) + "\n\nend\n\n")
	r.done()
	v.until("end")
	for line := range strings.SplitSeq(v.shows(), "\n") {
		if n := len([]rune(line)); n > 40 {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
	v.resize(15, 5) // narrower than anything is made for
	v.types("\x03\x04")
	if err := v.end(); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestSIGTERMRestoresTheTerminal(t *testing.T) {
	s := newService(t)
	v := open(t, s, policy.Admin)
	v.types("go\r")
	s.next().say("on and on")
	v.until("on and on")
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := v.end(); !errors.Is(err, console.ErrTerminated) {
		t.Errorf("got %v", err)
	}
	<-s.cancelled
	for _, mode := range []string{"\x1b[?2004l", "\x1b[?25h"} { // pastes are not marked any more, the cursor is there
		if !strings.Contains(v.raw()[strings.LastIndex(v.raw(), "on and on"):], mode) {
			t.Errorf("%q is missing", mode)
		}
	}
}

func TestWithoutColours(t *testing.T) {
	s := newService(t)
	v := open(t, s, policy.Admin, "NO_COLOR=1", "LC_ALL=C")
	v.types("go\r")
	r := s.next()
	r.send(`{"type":"tool_use","id":"c1","name":"run_command","input":{"command":"df"}}`)
	r.send(`{"type":"tool_result","id":"c1","status":"success","duration_ms":3}`)
	r.say("# Über\n\n* `x` is **y**\n\n")
	r.done()
	v.until("* `x` is y")
	v.until("?ber")
	v.until("+ run_command df")
	if got := regexp.MustCompile(`\x1b\[[0-9;]*3[0-7]m|[^\x00-\x7f]`).FindString(v.raw()); got != "" {
		t.Errorf("got %q", got)
	}
}
