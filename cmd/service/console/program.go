package console

import (
	"context"
	"strings"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/svc-gateway/svc/cmd/service/ask"
)

// maxPrompt bounds what is typed, in characters.
const maxPrompt = 1 << 20

// frame is how often what moves is drawn.
const frame = 120 * time.Millisecond

// program is the state of a conversation.
type program struct {
	Config
	theme

	ctx           context.Context
	width, height int
	input         textarea.Model
	past          past
	paper         paper
	turn          *turn     // the run that is under way, if any
	question      *question // the call that the person is asked about, if any
	queue         []ask.Event
	held          []news // what came while a question is open
	seeking       string // the agent or the thread that is being looked for, to go on with
	frames        int    // drawn so far
	leaving       bool   // as soon as all is printed
	left          bool   // the person has left
	end           error  // as what
}

// toldMsg is something to say.
type toldMsg struct{ text string }

// linesMsg are lines to show, of our own making.
type linesMsg struct{ lines []string }

// tickMsg is time to draw what moves.
type tickMsg struct{}

func newProgram(ctx context.Context, c Config) *program {
	p := &program{Config: c, theme: newTheme(c.Env), ctx: ctx, width: 80, height: 24}
	p.input = newInput(p.theme)
	return p
}

func (p *program) tick() tea.Cmd {
	return tea.Tick(frame, func(time.Time) tea.Msg { return tickMsg{} })
}

// Init implements [tea.Model].
func (p *program) Init() tea.Cmd {
	p.paper.busy = true // nothing can be printed above what was not drawn yet
	return tea.Batch(p.input.Focus(), tea.Tick(frame, func(time.Time) tea.Msg { return printedMsg{} }))
}

// Update implements [tea.Model].
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := p.handle(msg)
	if p.leaving && p.paper.printed() {
		p.left = true
		return p, tea.Quit
	}
	return p, tea.Batch(cmd, p.paper.print(p.chunk()))
}

func (p *program) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.resize(msg.Width, msg.Height)
	case tea.PasteMsg:
		return p.paste(msg)
	case tea.KeyPressMsg:
		return p.key(msg)
	case printedMsg:
		p.paper.busy = false
	case tickMsg:
		p.frames++
		if p.turn != nil {
			return p.tick()
		}
	case newsMsg:
		return p.hear(msg)
	case toldMsg:
		p.say(msg.text)
	case linesMsg:
		p.paper.add(msg.lines...)
	case foundMsg:
		p.found(msg)
	case answerMsg:
		return p.answered(msg)
	case decidedMsg:
		return p.decided(msg)
	case editedMsg:
		return p.edited(msg)
	default:
		var cmd tea.Cmd
		p.input, cmd = p.input.Update(msg)
		return cmd
	}
	return nil
}

func (p *program) resize(width, height int) {
	p.width, p.height = max(width, 1), max(height, 1)
	p.Width = p.width - 1 // a terminal may take the last column for the first of the next line
	p.input.SetWidth(p.Width)
	p.input.MaxHeight = max(1, p.height/3)
	p.input.SetHeight(p.input.Height())
}

func (p *program) paste(msg tea.PasteMsg) tea.Cmd {
	if p.question != nil {
		p.question.disturb("Pasted text is no answer.")
		return nil
	}
	var cmd tea.Cmd
	p.input, cmd = p.input.Update(msg)
	return cmd
}

// key is what a key does.
func (p *program) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	switch {
	case name == "ctrl+c":
		return p.interrupt()
	case name == "ctrl+z":
		return tea.Suspend
	case p.question != nil:
		return p.question.key(name)
	case name == "ctrl+d" && p.input.Value() == "":
		return p.leave(nil)
	case name == "enter":
		return p.enter()
	case name == "up" && p.input.Line() == 0:
		p.recall(p.past.older(p.input.Value()))
		return nil
	case name == "down" && p.input.Line() == p.input.LineCount()-1:
		p.recall(p.past.newer())
		return nil
	}
	var cmd tea.Cmd
	p.input, cmd = p.input.Update(msg)
	return cmd
}

// interrupt is Ctrl-C: it cancels the run, or takes away what was typed, or leaves.
func (p *program) interrupt() tea.Cmd {
	switch {
	case p.turn != nil && p.turn.cancelling:
		return p.leave(ErrCancelled)
	case p.turn != nil:
		return p.cancelRun()
	case p.input.Value() != "":
		p.input.Reset()
		return nil
	}
	return p.leave(ErrCancelled)
}

// leave ends the conversation.
func (p *program) leave(as error) tea.Cmd {
	p.leaving, p.end = true, as
	return nil
}

// farewell is the last line: how to go on.
func (p *program) farewell() string {
	if p.Thread == "" {
		return "Nothing was said."
	}
	return "Go on with: service chat --thread " + p.safe(p.Thread)
}

// enter sends what was typed.
func (p *program) enter() tea.Cmd {
	text := strings.TrimSpace(p.input.Value())
	if text == "" {
		return nil
	}
	name, argument, isCommand := parseCommand(text)
	if !isCommand && p.turn != nil {
		p.say("A run is under way: wait for its end, or cancel it with Ctrl-C.")
		return nil
	}
	if p.seeking != "" && (!isCommand || turns(name)) {
		p.say("One moment: " + p.seeking + " is being looked for.")
		return nil
	}
	p.past.add(text)
	p.input.Reset()
	p.echo(text)
	if isCommand {
		return p.command(name, argument)
	}
	return p.begin(text)
}
