package console

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// foundMsg is what became of looking for an agent or a thread.
type foundMsg struct {
	name, argument string // the command that asked for it
	err            error
}

// turns reports whether a command is for turnTo.
func turns(name string) bool { return name == "agent" || name == "thread" || name == "new" }

// turnTo changes with whom, or where, the conversation goes on.
func (p *program) turnTo(name, argument string) tea.Cmd {
	switch {
	case p.turn != nil:
		p.say("A run is under way: wait for its end, or cancel it with Ctrl-C.")
	case name == "new":
		p.Thread = ""
		p.say("A new conversation.")
	case argument == "":
		p.say("Which one? /" + name + "s lists them.")
	default:
		p.seeking = argument
		return func() tea.Msg { return foundMsg{name, argument, p.find(name, argument)} }
	}
	return nil
}

// find reports that there is no such agent or thread.
func (p *program) find(name, argument string) error {
	ctx, stop := context.WithTimeout(p.ctx, 30*time.Second)
	defer stop()
	if name == "agent" {
		return p.Client.FindAgent(ctx, argument)
	}
	return p.Client.FindThread(ctx, argument)
}

// found turns to what was looked for, if it is there.
func (p *program) found(m foundMsg) {
	p.seeking = ""
	switch {
	case m.err != nil:
		p.complain("Error: " + m.err.Error())
	case m.name == "agent":
		p.Agent = m.argument
		p.say("From now on " + m.argument + " is asked.")
	default:
		p.Thread = m.argument
		p.say("The conversation goes on in " + m.argument + ".")
	}
}

// check looks for the agent and the thread that the conversation begins with.
func (p *program) check() error {
	if p.Agent != "" {
		if err := p.find("agent", p.Agent); err != nil {
			return err
		}
	}
	if p.Thread != "" {
		return p.find("thread", p.Thread)
	}
	return nil
}
