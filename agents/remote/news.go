package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
)

// maxNews is how many tasks a turn is told of.
const maxNews = 16

// News has a model told, at each turn, which tasks of the thread are over or wait for an answer, until an agent
// has looked at them. It is told names and states, in words of ours, and nothing that a remote said.
func (t *Tasks) News(m model.Model) model.Model { return news{m, t} }

type news struct {
	model.Model
	tasks *Tasks
}

// Turn implements [model.Model].
func (n news) Turn(ctx context.Context, req model.Request, delta func(string)) (model.Response, error) {
	if req.Thread != "" && slices.ContainsFunc(req.Tools, func(s model.ToolSpec) bool { return s.Name == ToolCheck }) {
		if lines := n.tasks.unread(ctx, req.Thread); lines != "" {
			req.System += "\n\n" + lines
		}
	}
	return n.Model.Turn(ctx, req, delta)
}

// unread are the tasks of a thread with news; empty: there are none.
func (t *Tasks) unread(ctx context.Context, thread string) string {
	list, err := t.Store.RemoteTasks(ctx, Filter{Thread: thread, Unread: true, Limit: maxNews})
	if err != nil {
		t.Log.Warn("looking for news of remote sub-agents failed, the model is told of none", zap.Error(err))
		return ""
	}
	var parts []string
	for _, task := range list {
		parts = append(parts, fmt.Sprintf("%s is now %s", task.ID, task.Status))
	}
	if len(parts) == 0 {
		return ""
	}
	return model.RemoteNews + strings.Join(parts, ", ") + "." + model.RemoteNewsEnd
}
