package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/masked"
	"github.com/svc-gateway/svc/policy"
)

// Category is what a call that lets a remote go on is classed as. A built-in rule has people asked.
const Category = "remote_interrupt"

// expand makes of the model's call the one that people are asked about: with what the remote waits for. What
// somebody else wrote in its place is not taken.
func (t *Tasks) expand(tc agents.ToolContext, args map[string]any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // the store is asked, nobody else
	defer cancel()
	given, err := readAnswer(args)
	if err != nil {
		return nil, err
	}
	task, _, err := t.own(ctx, tc, given.Task)
	if err != nil {
		return nil, err
	}
	switch {
	case task.Status != Waiting || task.Asks == nil:
		return nil, fmt.Errorf("the task %s waits for no answer (%s): check_remote tells how it stands", task.ID, task.Status)
	case task.Asks.Unfit != "":
		return nil, fmt.Errorf("what the remote asks for cannot be shown to people, so nobody can answer it: %s; cancel_remote ends the task", task.Asks.Unfit)
	case given.Asks != nil && !same(&Asks{List: given.Asks}, task.Asks):
		return nil, errors.New("asks: it says what the remote asks for and cannot be changed; to have another call made, give decisions of the type edit")
	case given.Answer == nil && task.Asks.questions():
		return nil, errors.New("answer: the remote asks a question: give what is to be answered")
	case given.Answer != nil && !task.Asks.questions():
		return nil, errors.New("answer: the remote asks for decisions and no question: leave it out")
	}
	given.Remote, given.Asks = task.name(), task.Asks.List
	if given.Decisions, err = task.Asks.decided(given.Decisions); err != nil {
		return nil, err
	}
	doc, err := encode(given)
	if err != nil {
		return nil, err
	}
	return doc, t.seen(doc)
}

// seen refuses what people would not see all of: a remote chooses the words around what looks like a
// credential, and with them what is masked.
func (t *Tasks) seen(doc json.RawMessage) error {
	var whole, shown any
	if json.Unmarshal(doc, &whole) != nil || json.Unmarshal(t.secrets().RedactJSON(doc), &shown) != nil || !masked.OnlyWords(whole, shown) {
		return errors.New("what looks like a credential in what the remote asks for is more than one plain word, and nobody can approve what is not shown; cancel_remote ends the task")
	}
	return nil
}

// classify classes an answer: to say no to everything, without a word, needs nobody's leave.
func (t *Tasks) classify(args map[string]any) agents.Classification {
	a, err := readAnswer(args)
	c := agents.Classification{Action: policy.Mutate, Where: "at " + a.Remote, Refused: t.gives(args)}
	if err != nil || !a.refuses() {
		c.Categories = []string{Category}
	}
	return c
}

// refuses reports whether the answer lets the remote do nothing that it asks for, and tells it nothing.
func (a *Answer) refuses() bool {
	return len(a.Decisions) > 0 && a.Answer == nil && !slices.ContainsFunc(a.Decisions, func(d Decision) bool { return d.Type != reject || d.Message != "" })
}

// readAnswer reads arguments that fit the schema.
func readAnswer(args map[string]any) (Answer, error) {
	var a Answer
	doc, err := json.Marshal(args)
	if err == nil {
		err = json.Unmarshal(doc, &a)
	}
	if err != nil {
		return Answer{}, errors.New("the arguments do not have the form that the tool asks for")
	}
	return a, nil
}
