package model

import (
	"strings"
	"testing"
)

// remoteRequest is a turn of an agent that may use agents of other services.
func remoteRequest(messages ...Message) Request {
	r := Request{Agent: "svc-orchestrator", Messages: messages}
	for _, name := range []string{"delegate", "start_remote", "check_remote", "update_remote", "answer_remote", "cancel_remote", "list_remote"} {
		r.Tools = append(r.Tools, ToolSpec{Name: name})
	}
	return r
}

func TestDemoRemote(t *testing.T) {
	const id = "lab-k3v7q2ma"
	for _, tc := range []struct{ question, want string }{
		{"ask remote-lab to show notes.txt", `start_remote {"agent":"remote-lab","text":"show notes.txt"}`},
		{"start remote-lab to show notes.txt", `start_remote {"agent":"remote-lab","text":"show notes.txt"}`},
		{"check " + id, `check_remote {"task":"` + id + `"}`},
		{"tell " + id + " to go on", `update_remote {"task":"` + id + `","text":"go on"}`},
		{"cancel " + id, `cancel_remote {"task":"` + id + `"}`},
		{"which remote tasks are there?", `list_remote {}`},
		{"ask core to show notes.txt", `delegate {"agent":"core","task":"show notes.txt"}`},
	} {
		m := turn(t, remoteRequest(user(tc.question)))
		if len(m.ToolCalls) != 1 || m.ToolCalls[0].Name+" "+m.ToolCalls[0].Arguments != tc.want {
			t.Errorf("%s: got %+v, want %s", tc.question, m, tc.want)
		}
	}
	// a task is looked at until it is done; what it waits for is for people
	for _, tc := range []struct{ question, status, result, want string }{
		{"ask remote-lab to look", "success", "task " + id + " of remote-lab: running\nmore", `check_remote {"task":"` + id + `","wait":30}`},
		{"ask remote-lab to look", "success", "task " + id + " of remote-lab: interrupted\nmore", `answer_remote {"task":"` + id + `"}`},
		{"start remote-lab to look", "success", "task " + id + " of remote-lab: running\nmore", "is at work"},
		{"ask remote-lab to look", "success", "task " + id + " of remote-lab: success\nThe remote answers:\nfine", "The remote answers:\nfine"},
		{"ask remote-lab to look", "success", "task " + id + " of remote-lab: success\nThe remote answers:\nfine" + demoNote, "(" + id + ", success): The remote answers:\nfine" + demoNote},
		{"ask remote-lab to look", "success", "task " + id + " of remote-lab: success\nThe remote answers:\nfine" + demoNote + "\n[and more]", "fine\n\n\n[and more]" + demoNote},
		{"ask remote-lab to look", "error", "error: remote-lab cannot be reached", "failed: remote-lab cannot be reached"},
	} {
		first := turn(t, remoteRequest(user(tc.question)))
		m := turn(t, remoteRequest(user(tc.question), first, Message{Role: RoleTool, ToolCallID: first.ToolCalls[0].ID, Status: tc.status, Content: tc.result}))
		got := m.Content
		for _, c := range m.ToolCalls {
			got = c.Name + " " + c.Arguments
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s, %s: got %q, want %q", tc.question, tc.result, got, tc.want)
		}
	}
	r := remoteRequest(user("hello"))
	r.System = "You …\n\n" + RemoteNews + id + " is now success." + RemoteNewsEnd
	if m := turn(t, r); !strings.Contains(m.Content, RemoteNews+id+" is now success.") || strings.Contains(m.Content, RemoteNewsEnd) {
		t.Errorf("got %q", m.Content)
	}
}
