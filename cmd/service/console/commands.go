package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/svc-gateway/svc/cmd/service/ask"
	"github.com/svc-gateway/svc/internal/markdown"
	"github.com/svc-gateway/svc/internal/problem"
)

// shown is how many entries the lists have.
const shown = 20

// aCommand is what a command looks like; a path is none.
var aCommand = regexp.MustCompile(`^/([a-z]+)(?:\s+(\S.*))?$`)

// parseCommand takes a line apart that begins with a command.
func parseCommand(line string) (name, argument string, ok bool) {
	m := aCommand.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimSpace(m[2]), true
}

// help lists the commands and keys.
var help = []string{
	"/agents          the agents that can be asked",
	"/agent NAME      ask this one from now on",
	"/threads         your latest conversations",
	"/thread ID       go on with one of them",
	"/new             begin another one",
	"/memory          what agents know of you from earlier conversations",
	"/approvals       calls that wait for approval",
	"/cancel          cancel the run, like Ctrl-C",
	"/quit            leave, like Ctrl-D on an empty line",
	"",
	"Enter sends, Alt-Enter or Ctrl-J begins a line; Up and Down bring back what you sent.",
	"Ctrl-C cancels the run that is under way; a second one, or one on an empty line, leaves.",
}

// command does what a command says.
func (p *program) command(name, argument string) tea.Cmd {
	switch name {
	case "help":
		for _, line := range help {
			p.paper.add(markdown.Plain(line, p.Options)...)
		}
		p.paper.add("")
	case "agents":
		return p.list(p.agents)
	case "threads":
		return p.list(p.threads)
	case "approvals":
		return p.list(p.approvals)
	case "memory":
		return p.list(p.memories)
	case "cancel":
		if p.turn == nil {
			p.say("No run is under way.")
			return nil
		}
		return p.cancelRun()
	case "quit", "exit":
		return p.leave(nil)
	case "agent", "thread", "new":
		return p.turnTo(name, argument)
	default:
		p.say("There is no command /" + name + "; /help lists them.")
	}
	return nil
}

// list shows what is read of the service.
func (p *program) list(read func(context.Context) ([][]string, error)) tea.Cmd {
	return func() tea.Msg {
		ctx, stop := context.WithTimeout(p.ctx, 30*time.Second)
		defer stop()
		rows, err := read(ctx)
		switch {
		case err != nil:
			return toldMsg{fmt.Sprintf("Error: %v", err)}
		case len(rows) == 0:
			return toldMsg{"None."}
		}
		return linesMsg{append(p.table(rows), "")}
	}
}

// table shows rows: the last cell of each on as many lines as it needs.
func (p *program) table(rows [][]string) []string {
	var out []string
	for _, row := range rows {
		last := len(row) - 1
		out = append(out, p.revealed("  ", strings.Join(row[:last], "  "), p.bold)...)
		o := p.Options
		o.Width -= 4
		for _, line := range markdown.Plain(ask.Reveal(row[last]), o) {
			out = append(out, "    "+line)
		}
	}
	return out
}

func (p *program) agents(ctx context.Context) ([][]string, error) {
	list, err := p.Client.Agents(ctx)
	var rows [][]string
	for _, a := range list {
		rows = append(rows, []string{a.Name, a.Description})
	}
	return rows, err
}

func (p *program) threads(ctx context.Context) ([][]string, error) {
	list, err := p.Client.Threads(ctx, shown)
	var rows [][]string
	for _, t := range list {
		rows = append(rows, []string{t.ThreadID, t.UpdatedAt.Local().Format(time.DateTime) + "  " + t.Status + "  " + t.UserID})
	}
	return rows, err
}

func (p *program) approvals(ctx context.Context) ([][]string, error) {
	list, err := p.Client.Waiting(ctx, shown)
	var rows [][]string
	for _, a := range list {
		rows = append(rows, []string{a.ID, a.UserID, a.Tool + " " + compact(fields(a.Input))})
	}
	return rows, err
}

func (p *program) memories(ctx context.Context) ([][]string, error) {
	list, err := p.Client.Memories(ctx, p.User.User, shown)
	if problem, ok := errors.AsType[problem.Problem](err); ok && problem.Status == http.StatusNotFound {
		return nil, errors.New("this service has no memory of earlier conversations")
	}
	var rows [][]string
	for _, m := range list {
		who := m.Agent
		if who == "" {
			who = "all agents"
		}
		rows = append(rows, []string{m.ID, m.Category, who, m.Text})
	}
	return rows, err
}

// greet says where the person is, before anything is drawn.
func (p *program) greet() error {
	whom := p.Agent
	if whom == "" {
		whom = "the agents"
	}
	p.say(fmt.Sprintf("You are %s (%s) and talk to %s. /help lists the commands, Ctrl-D leaves.", p.User.User, p.User.Role, whom))
	if p.Thread != "" {
		p.say("The conversation goes on in " + p.Thread + ".")
	}
	_, err := fmt.Fprintln(p.Out, strings.Join(p.paper.lines, "\n"))
	p.paper.lines = nil
	return err
}
