package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/cmd/service/ask"
)

// hear takes the news of a run.
func (p *program) hear(m newsMsg) tea.Cmd {
	if m.turn != p.turn {
		return nil
	}
	for _, n := range m.all {
		if p.question != nil && n.event != nil && n.event.Type == "approval_decided" && n.event.ID == p.question.ID {
			p.closeQuestion()
		}
		p.held = append(p.held, n)
	}
	cmd := p.release()
	if m.over {
		return tea.Batch(cmd, p.over())
	}
	return tea.Batch(cmd, m.turn.next())
}

// release shows what was held back, up to the next question.
func (p *program) release() tea.Cmd {
	for len(p.held) > 0 && p.question == nil {
		n := p.held[0]
		p.held = p.held[1:]
		p.take(n)
	}
	return p.nextQuestion()
}

func (p *program) take(n news) {
	switch {
	case n.thread != "":
		p.Thread = n.thread
	case n.told != "":
		p.say(n.told)
	case n.err != nil:
		p.turn.failed = n.err.Error()
	case n.event != nil:
		p.show(*n.event)
	}
}

// show shows an event. Unknown types are skipped.
func (p *program) show(e ask.Event) {
	t := p.turn
	if e.Usage != nil {
		t.tokens += e.Usage.TotalTokens
		t.estimated = t.estimated || e.Usage.Estimated
	}
	switch e.Type {
	case "message_chunk", "text":
		for _, block := range t.answer.Append(e.Content) {
			p.block(block)
		}
	case "tool_use":
		p.flush()
		p.toolUse(e)
	case "tool_result":
		p.toolResult(e)
	case "todos":
		t.plan = e.Items
	case "compacted":
		p.flush()
		p.say(e.Content)
	case "guardrail":
		p.flush()
		p.say("[answer " + e.Status + "] " + e.Content)
	case "approval_required":
		p.flush()
		p.waits(e)
	case "approval_decided":
		p.flush()
		t.waits = ""
		p.queue = slices.DeleteFunc(p.queue, func(q ask.Event) bool { return q.ID == e.ID })
		p.say(e.Tool + ": " + ask.Because(e.Decision, e.Reason))
	case "error":
		t.failed = fmt.Sprintf("%s (%s)", e.Message, e.Code)
		if e.Code == "cancelled" && t.cancelling {
			t.failed = ""
		}
	}
}

// flush ends a part of the answer that something else follows.
func (p *program) flush() { p.block(p.turn.answer.Close()) }

func (p *program) toolUse(e ask.Event) {
	text := p.describe(e.Name, e.Input)
	if e.Status != "" {
		p.turn.denied = true
		p.paper.add(p.paint(ansi.Red, p.sign("✗ ", "x ")) + p.fit(text, p.Width-2))
		p.complain("  " + ask.Because(e.Status, e.Reason))
		return
	}
	if e.Name == todo.Tool { // the plan is shown instead
		return
	}
	p.turn.calls = append(p.turn.calls, call{e.ID, text, time.Now()})
}

func (p *program) toolResult(e ask.Event) {
	t := p.turn
	i := slices.IndexFunc(t.calls, func(c call) bool { return c.id == e.ID })
	if i < 0 {
		return
	}
	c := t.calls[i]
	t.calls = slices.Delete(t.calls, i, i+1)
	took := time.Since(c.began)
	if e.DurationMS != nil {
		took = time.Duration(*e.DurationMS) * time.Millisecond
	}
	mark, end := p.paint(ansi.Green, p.sign("✓ ", "+ ")), seconds(took)
	if e.Status != "success" {
		mark, end = p.paint(ansi.Red, p.sign("✗ ", "x ")), p.fit(e.Status, 20)+" "+end
	}
	p.flush()
	p.paper.add(mark + p.fit(c.text, p.Width-4-ansi.StringWidth(end)) + "  " + p.faint(end))
}

// over is the end of a run.
func (p *program) over() tea.Cmd {
	t := p.turn
	p.closeQuestion()
	p.queue = nil
	for _, n := range p.held {
		p.take(n)
	}
	p.held, p.queue = nil, nil
	p.flush()
	for _, line := range p.planLines(t.plan, len(t.plan)) {
		p.paper.add(line)
	}
	switch {
	case t.failed != "":
		p.complain("Error: " + t.failed)
	case t.cancelling:
		p.say("Cancelled.")
	}
	p.paper.add(p.faint(p.summary(t)), "")
	t.stop()
	p.turn = nil
	return nil
}

// summary says what a run took.
func (p *program) summary(t *turn) string {
	parts := []string{seconds(time.Since(t.began))}
	if t.tokens > 0 {
		about := ""
		if t.estimated {
			about = "about "
		}
		parts = append(parts, about+grouped(t.tokens)+" tokens")
	}
	return strings.Join(parts, p.sign(" · ", " - "))
}

// planLines are the first n steps of a plan.
func (p *program) planLines(items []todo.Item, n int) []string {
	var out []string
	for i, item := range items {
		if i == n {
			return append(out, p.faint(fmt.Sprintf("  and %d more", len(items)-n)))
		}
		mark := map[todo.Status]string{
			todo.Pending: p.sign("☐", "[ ]"), todo.InProgress: p.paint(ansi.Cyan, p.sign("▶", "[>]")), todo.Completed: p.paint(ansi.Green, p.sign("☑", "[x]")),
		}[item.Status]
		out = append(out, "  "+mark+" "+p.fit(item.Content, p.Width-6))
	}
	return out
}

// seconds is a duration for people.
func seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// grouped is a number with its thousands apart.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
