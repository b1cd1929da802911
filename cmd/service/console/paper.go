package console

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/svc-gateway/svc/internal/markdown"
)

// paper is what goes to the scrollback, in its order.
type paper struct {
	lines []string
	busy  bool // something is being printed
}

// printedMsg says that what was being printed is on the screen.
type printedMsg struct{}

func (p *paper) add(lines ...string) { p.lines = append(p.lines, lines...) }

// print prints the next lines, at most n: more than fit above what is drawn would leave a gap.
func (p *paper) print(n int) tea.Cmd {
	if p.busy || len(p.lines) == 0 {
		return nil
	}
	n = min(n, len(p.lines))
	text := strings.Join(p.lines[:n], "\n")
	if text == "" {
		text = ansi.ResetStyle // nothing is printed of an empty text
	}
	p.lines, p.busy = p.lines[n:], true
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printedMsg{} })
}

// printed reports whether all is on the screen.
func (p *paper) printed() bool { return !p.busy && len(p.lines) == 0 }

// chunk is how many lines may be printed at once.
func (p *program) chunk() int { return max(1, p.height/2-1) }

// say shows a sentence of our own, or of the service.
func (p *program) say(text string) {
	for _, line := range markdown.Plain(text, p.Options) {
		p.paper.add(p.faint(line))
	}
}

// complain shows an error.
func (p *program) complain(text string) {
	for _, line := range markdown.Plain(text, p.Options) {
		p.paper.add(p.paint(ansi.Red, line))
	}
}

// echo shows what the person said.
func (p *program) echo(text string) {
	o := p.Options
	o.Width -= 2
	for i, line := range markdown.Plain(text, o) {
		mark := "  "
		if i == 0 {
			mark = p.paint(ansi.Cyan, "> ")
		}
		p.paper.add(mark + p.bold(line))
	}
}

// block shows a part of an answer, and an empty line after it.
func (p *program) block(source string) {
	if lines := markdown.Render(source, p.Options); len(lines) > 0 {
		p.paper.add(lines...)
		p.paper.add("")
	}
}
