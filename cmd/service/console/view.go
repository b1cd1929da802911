package console

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/svc-gateway/svc/internal/markdown"
)

// maxOpen is how much of an open block is looked at to draw its end, in bytes.
const maxOpen = 8 << 10

// View implements [tea.Model]: what is not in the scrollback yet, and where one types.
func (p *program) View() tea.View {
	var v tea.View
	if p.left {
		return v
	}
	lines := p.status()
	if p.question != nil {
		lines = append(lines, p.question.lines(p.theme)...)
	} else {
		if c := p.input.Cursor(); c != nil {
			c.Y += len(lines)
			v.Cursor = c
		}
		lines = append(lines, p.input.View())
	}
	for i, line := range lines {
		if i > 0 {
			v.Content += "\n"
		}
		v.Content += line
	}
	return v
}

// status is how the run stands: the end of what it says, what it does, its plan, and what it took so far.
func (p *program) status() []string {
	t := p.turn
	if t == nil {
		return nil
	}
	room := max(1, p.height/2-p.input.Height()-1)
	now := p.spinner(p.frames) + " "
	state := p.summary(t) + p.sign(" · ", " - ")
	switch {
	case p.question != nil:
		state += "waiting for you"
	case t.cancelling:
		state += "cancelling, Ctrl-C leaves"
	case t.waits != "":
		state += "waiting for " + t.waits
	default:
		state += "Ctrl-C cancels"
	}
	last := now + p.faint(p.fit(state, p.Width-2))
	var out []string
	for _, c := range t.calls {
		took := seconds(time.Since(c.began))
		out = append(out, now+p.fit(c.text, p.Width-4-ansi.StringWidth(took))+"  "+p.faint(took))
	}
	out = append(out, p.planLines(t.plan, max(1, room-len(out)-2))...)
	if p.question == nil {
		out = append(p.tail(room-len(out)-1), out...)
	}
	if len(out) > room-1 {
		out = out[len(out)-room+1:]
	}
	return append(out, last)
}

// tail is the end of the block that is being written, in at most n lines.
func (p *program) tail(n int) []string {
	text := p.turn.answer.Open()
	if n < 1 || text == "" {
		return nil
	}
	if len(text) > maxOpen {
		text = text[len(text)-maxOpen:]
	}
	lines := markdown.Plain(text, p.Options)
	return lines[max(0, len(lines)-n):]
}
