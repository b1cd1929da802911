package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/policy"
)

// quiet is how long nothing may be typed before a key and after it for the key to be an answer. Whoever
// types on, or pastes, has not read the question.
const quiet = 400 * time.Millisecond

// question is a call that the person is asked about.
type question struct {
	ask.Event
	heard int // keys and pastes so far
	since time.Time
	hint  string
	asks  string // what the key that was pressed would do; empty: none was
	busy  bool   // the answer is on its way
}

// answerMsg is a key that was pressed on its own.
type answerMsg struct {
	id    string
	heard int
	key   string
}

// decidedMsg is what became of a decision.
type decidedMsg struct {
	id   string
	view approval.View
	err  error
}

// waits takes note of a call that waits.
func (p *program) waits(e ask.Event) {
	if !slices.ContainsFunc(p.queue, func(q ask.Event) bool { return q.ID == e.ID }) { // the stream was joined again
		p.queue = append(p.queue, e)
	}
}

// nextQuestion asks about the next call that waits and that nobody has decided on.
func (p *program) nextQuestion() tea.Cmd {
	if p.question != nil || len(p.queue) == 0 || p.turn == nil {
		return nil
	}
	e := p.queue[0]
	p.queue = p.queue[1:]
	p.paper.add("")
	for line := range strings.SplitSeq("Approval needed: "+e.Reason, "\n") {
		p.paper.add(p.revealed("", line, p.bold)...)
	}
	p.paper.add(p.exactly(e.Tool, e.Input)...)
	if e.Where != "" {
		p.paper.add(p.revealed("  ", "runs "+e.Where, p.faint)...)
	}
	if e.Approvers > 1 {
		p.paper.add(fmt.Sprintf("  %d different people have to approve it", e.Approvers))
	}
	if may := p.User.Role.May(policy.ApproveWrite); !may || e.OtherPerson {
		p.turn.waits = "an admin"
		if may {
			p.turn.waits = "another admin"
		}
		until := ""
		if e.ExpiresAt != nil {
			until = ", until " + e.ExpiresAt.Local().Format(time.TimeOnly)
		}
		p.say(fmt.Sprintf("Waiting for %s%s: service approvals approve %s", p.turn.waits, until, ask.Reveal(e.ID)))
		return p.nextQuestion()
	}
	p.question = &question{Event: e, since: time.Now()}
	return nil
}

// closeQuestion takes the question away; what was held back is for release to show.
func (p *program) closeQuestion() { p.question = nil }

// disturb says why what was typed is no answer.
func (q *question) disturb(why string) {
	q.heard++
	q.since, q.asks, q.hint = time.Now(), "", why
}

// key is a key that was pressed while the question is open.
func (q *question) key(name string) tea.Cmd {
	verb := map[string]string{
		"y": "yes", "Y": "yes", "n": "no", "N": "no", "enter": "no", "esc": "no", "ctrl+d": "no", "e": "edit", "E": "edit", "?": "help",
	}[name]
	switch {
	case q.busy:
		return nil
	case time.Since(q.since) < quiet:
		q.disturb("Press one key, on its own.")
		return nil
	case verb == "":
		q.disturb("Press y, n, e or ?.")
		return nil
	}
	q.disturb("")
	q.asks = verb
	m := answerMsg{q.ID, q.heard, verb}
	return tea.Tick(quiet, func(time.Time) tea.Msg { return m })
}

// lines are the question.
func (q *question) lines(t theme) []string {
	line := t.bold("Make this call?") + " [y]es / [N]o / [e]dit / [?]"
	if q.asks != "" {
		line += " " + t.bold(q.asks)
	}
	if q.hint == "" {
		return []string{line}
	}
	return []string{line, t.faint(q.hint)}
}

// answered does what a key asks for, unless something else was typed since.
func (p *program) answered(m answerMsg) tea.Cmd {
	q := p.question
	if q == nil || q.ID != m.id || q.heard != m.heard || q.busy {
		return nil
	}
	switch m.key {
	case "yes":
		return p.decide(ask.Decision{Decision: approval.Approve})
	case "no":
		return p.decide(ask.Decision{Decision: approval.Reject})
	case "edit":
		return p.edit()
	}
	q.asks = ""
	p.paper.add(
		"  y  the call is made, as it is shown",
		"  n  it is not made, and the agent is told so; so does Enter",
		"  e  change the arguments in $EDITOR, and have the call made with them",
		"  Ctrl-C cancels the run",
	)
	return nil
}

// decide sends a decision on the call that was shown.
func (p *program) decide(d ask.Decision) tea.Cmd {
	q := p.question
	q.busy, q.hint = true, ""
	d.Digest = q.Digest
	return func() tea.Msg {
		v, err := p.Client.Decide(p.ctx, q.ID, d)
		return decidedMsg{q.ID, v, err}
	}
}

// decided goes on after a decision.
func (p *program) decided(m decidedMsg) tea.Cmd {
	switch {
	case m.err != nil:
		p.complain(fmt.Sprintf("This was not decided: %v", m.err))
		p.say("Decide with: service approvals approve|reject " + m.id)
	case m.view.State == string(approval.Pending):
		p.say(fmt.Sprintf("%d of %d have approved it.", len(m.view.Votes), m.view.Approvers))
	}
	if p.question == nil || p.question.ID != m.id {
		return nil
	}
	p.closeQuestion()
	if p.turn == nil {
		return nil
	}
	if m.err != nil || m.view.State == string(approval.Pending) {
		p.turn.waits = "a decision"
	}
	return p.release()
}

// asJSON is a call's arguments for an editor.
func asJSON(input json.RawMessage) ([]byte, error) {
	var v any = fields(input)
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}
