package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/contain"
	"github.com/svc-gateway/svc/scanner"
)

// Capture implements [agents.Memory]: afterwards a model is asked what is worth knowing later, and that is
// written down.
func (k *Keeper) Capture(in agents.Invocation, c agents.Completed) {
	if !between(in) || k.Config.Capture == Never || forgets(c.Messages) || k.Config.Capture != Always && !cued(c.Messages) {
		return
	}
	messages := slices.Clone(c.Messages)
	for i := range messages {
		messages[i].Content = k.Secrets.Redact(messages[i].Content)
	}
	shown, spoken, labels := transcript(messages), sentences(messages), Sources(c.Labels...)
	cleared := k.Queue.cleared(in.Owner)
	queued := k.Queue.Add(in.Owner, func(ctx context.Context) {
		if _, err := contain.Run(ctx, jobTime, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, k.learn(ctx, in, c.Ask, shown, spoken, labels, cleared)
		}); err != nil {
			k.Log.Warn("what an agent learned was not written to memory, or not all of it", zap.String("run", in.Run), zap.String("agent", in.Agent), zap.Error(err))
		}
	})
	if !queued {
		k.Log.Warn("what an agent learned is not written to memory: too much waits, or the service stops", zap.String("run", in.Run), zap.String("agent", in.Agent))
	}
}

type asking = func(ctx context.Context, req model.Request) (model.Response, error)

// learn asks the model, and writes what it names.
func (k *Keeper) learn(ctx context.Context, in agents.Invocation, ask asking, shown string, spoken said, labels []string, cleared int) error {
	if err := k.meet(ctx, in.Owner); err != nil {
		return err
	}
	resp, err := ask(ctx, model.Request{System: model.MemorySystem, Messages: []model.Message{{Role: model.RoleUser, Content: shown}}})
	if err != nil {
		return fmt.Errorf("asking what to remember: %w", err)
	}
	learned, err := parse(resp.Message.Content)
	if err != nil {
		return fmt.Errorf("reading what to remember: %w", err)
	}
	var errs []error
	for _, l := range learned {
		now := k.Now().UTC()
		e := Entry{
			Owner: in.Owner, Agent: in.Agent, Category: l.Category, Text: l.Text, Labels: labels, Times: 1,
			Created: now, Updated: now, Used: now, Run: in.Run, Thread: in.Thread,
		}
		if sentence, ok := spoken.find(l.Text); ok {
			e.Text, e.Labels = sentence, []string{"user"}
		}
		if e.Own() {
			e.Agent = ""
		}
		errs = append(errs, k.write(ctx, in, e, cleared))
	}
	return errors.Join(append(errs, k.embed(ctx, in.Owner))...)
}

// write keeps a memory if it may be kept.
func (k *Keeper) write(ctx context.Context, in agents.Invocation, e Entry, cleared int) error {
	if e.Text = oneLine(k.Secrets.Redact(oneLine(k.Secrets.Redact(e.Text)))); len(e.Text) > MaxText {
		e.Text = cut(e.Text, MaxText-len("…"), "…")
	}
	if e.Key() == "" {
		return nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("making an id: %w", err)
	}
	e.ID = "mem_" + strings.ReplaceAll(id.String(), "-", "")
	r := k.event(in, audit.MemoryKept)
	r.Labels = e.Labels
	if r.Input, err = text(map[string]any{"id": e.ID, "category": e.Category, "agent": e.Agent}); err != nil {
		return err
	}
	if found := high(k.Scan(e.Text)); len(found) > 0 {
		r.Type, r.Status = audit.MemoryRefused, "refused"
		r.Reasons = []string{fmt.Sprintf("injection: %s, rule %s", found[0].Category, found[0].Rule)}
		if r.Findings, err = json.Marshal(found); err != nil {
			return err
		}
		k.Log.Warn("a memory that reads like an injection was refused", zap.String("run", in.Run), zap.String("agent", in.Agent), zap.Strings("labels", e.Labels), zap.String("category", string(found[0].Category)), zap.String("rule", found[0].Rule))
		return k.Audit.Record(ctx, r)
	}
	return k.Audit.Around(ctx, r, func(end *audit.Event) error {
		var kept Kept
		err := k.Queue.keep(e.Owner, cleared, func() (err error) {
			kept, err = k.Store.KeepMemory(ctx, e, k.Room)
			return err
		})
		if err != nil {
			return err
		}
		end.Output, err = text(map[string]any{"id": kept.ID, "merged": kept.Merged, "made_room": kept.Gone})
		return err
	})
}

func high(all []scanner.Finding) (found []scanner.Finding) {
	for _, f := range all {
		if f.Confidence == scanner.High {
			found = append(found, f)
		}
	}
	return found
}
