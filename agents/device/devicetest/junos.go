package devicetest

import (
	"slices"
	"strings"
)

// junos does what Junos does at a line.
func (t *terminal) junos(text string) {
	d := t.d
	if t.mode != "" {
		t.candidate(text)
		return
	}
	switch {
	case strings.HasPrefix(text, "set cli screen-length "):
		t.rows = map[bool]int{true: 0, false: 24}[strings.HasSuffix(text, " 0")]
	case strings.HasPrefix(text, "set cli screen-width "):
	case text == "show version":
		t.show(t.version())
	case text == "show log messages":
		t.show(t.log())
	case text == "show configuration | display set":
		t.show(d.Running())
	case text == "configure exclusive", text == "configure private":
		t.mode = "config"
		d.mu.Lock()
		t.work = slices.Clone(d.config)
		d.mu.Unlock()
		t.print("warning: uncommitted changes will be discarded on exit\r\nEntering configuration mode\r\n")
	case text == "exit":
		t.gone = true
	default:
		t.print("                    ^\r\nunknown command.\r\n")
	}
}

// candidate does what Junos does at a line in the configuration mode.
func (t *terminal) candidate(text string) {
	d := t.d
	d.mu.Lock()
	running, before := d.config, d.before
	d.mu.Unlock()
	verb, _, _ := strings.Cut(text, " ")
	switch {
	case text == "show | compare":
		t.print(strings.ReplaceAll(compare(running, t.work), "\n", "\r\n"))
	case text == "run show configuration | compare rollback 1":
		t.print(strings.ReplaceAll(compare(before, running), "\n", "\r\n"))
	case text == "rollback 0":
		t.work = slices.Clone(running)
		t.print("load complete\r\n")
	case text == "rollback 1" && d.o.Fault == NoRollback:
		t.print("error: rollback 1: no such configuration\r\n")
	case text == "rollback 1":
		t.work = slices.Clone(before)
		t.print("load complete\r\n")
	case verb == "commit":
		t.commit(text)
	case text == "exit":
		t.gone = d.o.Fault == CloseAfter
		t.mode = ""
		t.print("Exiting configuration mode\r\n")
	default:
		to, ok := change(t.work, text)
		if !ok {
			t.print("                    ^\r\nsyntax error.\r\n")
		}
		t.work = to
	}
}

func (t *terminal) commit(text string) {
	d := t.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.o.Fault == CommitFails {
		t.print("error: commit failed: (statements constraint check failed)\r\n")
		return
	}
	if confirming := text == "commit" && slices.EqualFunc(d.config, t.work, line.is); !confirming {
		d.before = slices.Clone(d.config)
		d.config = slices.Clone(t.work)
		if (d.o.Fault == ChangeMore || d.o.Fault == NoRollback) && strings.HasPrefix(text, "commit confirmed") {
			d.config = append(d.config, line{"system services telnet"})
		}
	}
	switch confirmed := strings.HasPrefix(text, "commit confirmed"); {
	case d.o.Fault == SilentCommit:
		return
	case d.o.Fault == CloseCommit && confirmed, d.o.Fault == CloseConfirm && !confirmed:
		t.gone = true
		return
	case confirmed:
		t.print("commit confirmed will be automatically rolled back in 2 minutes unless confirmed\r\n")
	}
	t.print("commit complete\r\n")
}
