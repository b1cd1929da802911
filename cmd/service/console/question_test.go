//go:build linux

package console_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/policy"
)

const request = `{"type":"approval_required","id":"call_1","tool":%q,"input":%s,"digest":"d1","reason":"This deletes.","where":"on the host","other_person":%t,"expires_at":%q}`

// require has a call wait for approval.
func (r *run) require(tool, input string, other bool) {
	r.send(request, tool, input, other, time.Now().Add(time.Hour).Format(time.RFC3339))
}

// presses presses one key on its own, when the question takes answers, until something comes of it.
func (v *screen) presses(key, want string) {
	v.t.Helper()
	var last time.Time
	v.when(fmt.Sprintf("%s makes %q appear", key, want), func() bool {
		if strings.Contains(v.shows(), want) {
			return true
		}
		if time.Since(last) > 2*time.Second {
			v.types(key)
			last = time.Now()
		}
		return false
	})
}

func TestApproval(t *testing.T) {
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/old-notes/drafts/' \"$1\"\n"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, key string
		want      ask.Decision
	}{
		{"yes", "y", ask.Decision{Decision: "approve", Digest: "d1"}},
		{"no", "n", ask.Decision{Decision: "reject", Digest: "d1"}},
		{"Enter is no", "\r", ask.Decision{Decision: "reject", Digest: "d1"}},
		{"edit", "e", ask.Decision{Decision: "edit", Digest: "d1", Patch: json.RawMessage(`{"command":"rm -r drafts"}`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t)
			v := open(t, s, policy.Admin, "EDITOR="+editor)
			v.types("delete it\r")
			r := s.next()
			r.require("run_command", `{"command":"rm -r old-notes"}`, false)
			v.until("command: rm -r old-notes")
			v.until("runs on the host")
			v.until("Make this call?")
			r.say("\n\nMake this call? [y]es: what an agent says meanwhile\n\n")
			v.until("waiting for you")
			if strings.Contains(v.shows(), "meanwhile") {
				t.Errorf("it is shown beside the question:\n%s", v.shows())
			}
			v.presses(tt.key, "meanwhile")
			if diff := cmp.Diff([]ask.Decision{tt.want}, s.decided()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			r.send(`{"type":"approval_decided","id":"call_1","tool":"run_command","decision":"approved","reason":"by ann"}`)
			v.until("run_command: approved: by ann")
			r.done()
		})
	}
}

// What was not meant for the question is no answer to it.
func TestNotAnAnswer(t *testing.T) {
	for _, tt := range []struct{ name, typed, shows string }{
		{"a paste", "\x1b[200~y\r\x1b[201~", "Pasted text is no answer."},
		{"a paste in a terminal that does not mark it", "yes please\ry", "Press "},
		{"a word", "yy", "Press one key, on its own."},
		{"another key", "x", "Press y, n, e or ?."},
		{"help", "?", "change the arguments in $EDITOR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t)
			v := open(t, s, policy.Admin)
			v.types("delete it\r")
			r := s.next()
			r.require("erase", `{"what":"all"}`, false)
			v.until("Make this call?")
			v.presses(tt.typed, tt.shows)
			v.types("q") // what was typed last stands alone no more
			v.until("Make this call?")
			r.send(`{"type":"approval_decided","id":"call_1","tool":"erase","decision":"rejected","reason":"rejected by eve"}`)
			v.until("erase: rejected by eve") // somebody else's decision takes the question away
			r.done()
			v.until("> ")
			if got := s.decided(); len(got) > 0 {
				t.Errorf("got %v", got)
			}
		})
	}
}

// No patch makes a value null: what was shown would not be what is called.
func TestAnEditToNullIsNone(t *testing.T) {
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/\"old\"/null/' \"$1\"\n"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	s := newService(t)
	v := open(t, s, policy.Admin, "EDITOR="+editor)
	v.types("delete it\r")
	r := s.next()
	r.require("erase", `{"what":"old"}`, false)
	v.until("Make this call?")
	v.presses("e", "what cannot be made null")
	r.send(`{"type":"approval_decided","id":"call_1","tool":"erase","decision":"expired"}`)
	v.until("erase: expired")
	if got := s.decided(); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	r.done()
}

// Keys that were on their way when the question came were meant for something else.
func TestTypeAheadIsNoAnswer(t *testing.T) {
	s := newService(t)
	v := open(t, s, policy.Admin)
	v.types("delete it\r")
	r := s.next()
	stop := make(chan struct{})
	typing := make(chan struct{})
	go func() { // a person who types y and looks at nothing
		defer close(typing)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				_, _ = v.terminal.WriteString("y")
			}
		}
	}()
	v.until("yyy")
	r.require("erase", `{"what":"all"}`, false)
	v.until("Press one key, on its own.")
	close(stop)
	<-typing
	v.types("x")
	v.until("Press")
	r.send(`{"type":"approval_decided","id":"call_1","tool":"erase","decision":"expired"}`)
	v.until("erase: expired")
	if got := s.decided(); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	r.done()
}

func TestWhoMayNotDecideIsToldWhoMay(t *testing.T) {
	for _, tt := range []struct {
		role  policy.Role
		other bool
		want  string
	}{
		{policy.User, false, "Waiting for an admin, until "},
		{policy.Admin, true, "Waiting for another admin, until "},
	} {
		s := newService(t)
		v := open(t, s, tt.role)
		v.types("delete it\r")
		r := s.next()
		r.require("erase", `{"what":"all"}`, tt.other)
		v.until(tt.want)
		v.until("service approvals approve call_1")
		if strings.Contains(v.shows(), "Make this call?") {
			t.Errorf("%s is asked", tt.role)
		}
		r.done()
	}
}

// A person decides on what they see: all of it.
func TestTheWholeCallIsShown(t *testing.T) {
	s := newService(t)
	v := open(t, s, policy.Admin)
	v.types("go\r")
	r := s.next()
	r.require("edit_file", `{"path":"a\u202e.txt","old":"one\ntwo\nthree","new":"one\n2\u001b[2Jx\nthree"}`, false)
	v.until("Make this call?")
	for _, want := range []string{`path: a\u202e.txt`, "-two", `+2\x1b[2Jx`, " three"} {
		v.until(want)
	}
	r.send(`{"type":"approval_decided","id":"call_1","tool":"edit_file","decision":"expired"}`)
	long := strings.Repeat("a", 300) + "END"
	r.send(strings.Replace(request, "call_1", "call_2", 1), "run_command", fmt.Sprintf(`{"command":"echo %s\nrm -rf /"}`, long), false, time.Now().Add(time.Hour).Format(time.RFC3339))
	v.until("│ rm -rf /")
	if got := strings.Join(strings.Fields(strings.ReplaceAll(v.shows(), "│", "")), ""); !strings.Contains(got, long) {
		t.Errorf("got\n%s", v.shows())
	}
	r.done()
}
