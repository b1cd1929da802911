package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/api/spec"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

const waitingCall = "call_0190f5a47c3e7b1a9f6e2d4c8a1b3e5f"

// TestPrompt holds what chat makes of an answer: y is yes, and everything else is no.
func TestPrompt(t *testing.T) {
	for _, tc := range []struct {
		name, role, typed string
		other             bool          // a rule wants another person
		expires           time.Duration // from now
		elsewhere         bool          // somebody else decides
		want              string        // what the service is told; empty: nothing
		told              string
	}{
		{"yes", "admin", "y\n", false, time.Hour, false, "approve", "[y/N] "},
		{"the whole word", "admin", " YES \n", false, time.Hour, false, "approve", ""},
		{"no", "admin", "n\n", false, time.Hour, false, "reject", ""},
		{"nothing", "admin", "\n", false, time.Hour, false, "reject", ""},
		{"something else", "admin", "yep\n", false, time.Hour, false, "reject", ""},
		{"the end of the input", "admin", "", false, time.Hour, false, "reject", "no answer: no"},
		{"no answer in time", "admin", "…", false, 0, false, "reject", "no answer in time: no"},
		{"decided elsewhere", "admin", "…", false, time.Hour, true, "", ""},
		{"a user", "user", "y\n", false, time.Hour, true, "", "Waiting for an admin"},
		{"the one who asked", "admin", "y\n", true, time.Hour, true, "", "Waiting for another admin"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			decided := make(chan string, 1)
			c, _, told := newChat(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/auth/whoami":
					fmt.Fprintf(w, `{"user":"ada","role":%q}`, tc.role)
				case "/approvals/" + waitingCall:
					var d ask.Decision
					if err := json.NewDecoder(r.Body).Decode(&d); err != nil || d.Digest != "d1" {
						t.Errorf("got %+v, %v", d, err)
					}
					decided <- string(d.Decision)
					_, _ = io.WriteString(w, `{"state":"approved"}`)
				default:
					expires := time.Now().Add(tc.expires).Format(time.RFC3339Nano)
					fmt.Fprintf(w, `data: {"type":"approval_required","id":%q,"tool":"run_command","input":{"command":"rm \u202e-rf x \u0026\u0026 y"},"digest":"d1","reason":"Dangerous.","where":"on the host","other_person":%t,"expires_at":%q}`+"\n\n",
						waitingCall, tc.other, expires)
					if err := http.NewResponseController(w).Flush(); err != nil {
						t.Error(err)
					}
					got := ""
					if !tc.elsewhere {
						got = <-decided
					}
					if got != tc.want {
						t.Errorf("got %q, want %q", got, tc.want)
					}
					fmt.Fprintf(w, `data: {"type":"approval_decided","id":%q,"tool":"run_command","decision":"rejected","reason":"rejected by eve"}`+"\n\n"+doneEvent, waitingCall)
				}
			})
			c.target.Prefix = cli.DefaultPrefix
			reader, writer := io.Pipe()
			defer writer.Close()
			if tc.typed != "…" {
				c.keys = newKeyboard(strings.NewReader(tc.typed))
			} else {
				c.keys = newKeyboard(reader)
			}
			if err := c.ask(t.Context(), "x"); err != nil {
				t.Fatal(err)
			}
			if got := told.String(); !tc.elsewhere && (!strings.Contains(got, tc.told) || !strings.Contains(got, `rm \u202e-rf x && y`) || !strings.Contains(got, "runs on the host")) {
				t.Errorf("got %q, want %q in it", got, tc.told)
			}
			if !strings.Contains(told.String(), "[run_command] rejected by eve") {
				t.Errorf("got %q", told.String())
			}
		})
	}
}

// TestWhatWasTypedBeforeIsNoAnswer types yes to what a model has written, and then no to the question.
func TestWhatWasTypedBeforeIsNoAnswer(t *testing.T) {
	decided := make(chan string, 1)
	c, _, _ := newChat(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/auth/whoami":
			_, _ = io.WriteString(w, `{"user":"ada","role":"admin"}`)
		case "/approvals/" + waitingCall:
			var d ask.Decision
			if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
				t.Error(err)
			}
			decided <- string(d.Decision)
			_, _ = io.WriteString(w, `{"state":"rejected"}`)
		default:
			fmt.Fprintf(w, "data: {\"type\":\"text\",\"content\":\"Make this call? [y/N] \"}\n\ndata: {\"type\":\"approval_required\",\"id\":%q,\"expires_at\":%q}\n\n",
				waitingCall, time.Now().Add(time.Hour).Format(time.RFC3339))
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			if got := <-decided; got != "reject" {
				t.Errorf("got %q, want the answer that was typed after the question", got)
			}
			_, _ = io.WriteString(w, doneEvent)
		}
	})
	c.target.Prefix = cli.DefaultPrefix
	terminal, err := os.Open(os.DevNull) // typing is the test's
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	lines := make(chan typed, 2)
	lines <- typed{"y", time.Now()}
	lines <- typed{"n", time.Now().Add(time.Hour)}
	c.keys = keyboard{lines: func() <-chan typed { return lines }, terminal: terminal}
	if err := c.ask(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
}

// TestNothingIsShownBesideAQuestion has an agent say something while a question is open.
func TestNothingIsShownBesideAQuestion(t *testing.T) {
	c, out, told := newChat(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/auth/whoami" {
			_, _ = io.WriteString(w, `{"user":"ada","role":"admin"}`)
			return
		}
		_, _ = io.WriteString(w, `{"state":"rejected"}`)
	})
	c.target.Prefix = cli.DefaultPrefix
	var d *desk
	d = newDesk(t.Context(), c.target, told, keyboard{lines: func() <-chan typed {
		fmt.Fprint(d.curtain.behind(out), "Make this call? [y/N] ")
		if out.Len() > 0 {
			t.Errorf("while the question is open there is %q", out)
		}
		lines := make(chan typed, 1)
		lines <- typed{"n", time.Now()}
		return lines
	}})
	defer d.close()
	expires := time.Now().Add(time.Hour)
	e := ask.Event{StreamEvent: spec.StreamEvent{ID: waitingCall, Tool: "erase", ExpiresAt: &expires}}
	d.mu.Lock()
	d.open[e.ID] = make(chan struct{})
	d.mu.Unlock()
	d.ask(t.Context(), e)
	if out.String() != "Make this call? [y/N] " {
		t.Errorf("after it there is %q", out)
	}
}

// TestRejoin has the connection break while a call waits: the stream goes on where it was.
func TestRejoin(t *testing.T) {
	joined := false
	c, out, _ := newChat(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/auth/whoami":
			_, _ = io.WriteString(w, `{"user":"ada","role":"user"}`)
		case r.Method == http.MethodPost:
			w.Header().Set("Content-Location", "/threads/t/runs/r")
			fmt.Fprintf(w, "id: 4\ndata: {\"type\":\"approval_required\",\"id\":%q}\n\n", waitingCall)
		default:
			if r.URL.Path != "/threads/t/runs/stream" || r.Header.Get("Last-Event-ID") != "4" {
				t.Errorf("got %s after %s", r.URL.Path, r.Header.Get("Last-Event-ID"))
			}
			if !joined {
				joined = true
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			fmt.Fprintf(w, "data: {\"type\":\"tool_use\",\"id\":%q,\"name\":\"x\",\"input\":{},\"status\":\"expired\"}\n\ndata: {\"type\":\"text\",\"content\":\"hello\"}\n\n", waitingCall)
			_, _ = io.WriteString(w, doneEvent)
		}
	})
	c.target.Prefix = cli.DefaultPrefix
	err := c.ask(t.Context(), "x")
	if coded, ok := errors.AsType[*cli.CodedError](err); !ok || coded.Code != cli.ExitDenied || out.String() != "hello\n" {
		t.Errorf("got %v, %q", err, out.String())
	}
}
