package langgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
)

// HistoryBody is the body of POST /threads/{thread_id}/history.
type HistoryBody struct {
	ThreadPath
	Limit      *int            `json:"limit,omitempty" nullable:"false" default:"10" description:"from 1 to 1000"`
	Before     json.RawMessage `json:"before,omitempty" description:"a checkpoint: its id, or an object with it"`
	Metadata   map[string]any  `json:"metadata,omitempty" nullable:"false"`
	Checkpoint *Checkpoint     `json:"checkpoint,omitempty" nullable:"false" description:"only of the graph: checkpoint_ns must be empty"`
}

// HistoryQuery is GET /threads/{thread_id}/history.
type HistoryQuery struct {
	ThreadPath
	Limit  int    `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"10"`
	Before string `query:"before" json:"-" format:"uuid"`
}

const (
	defaultLimit = 10
	maxLimit     = 1000
)

func (d *dialect) history(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body HistoryBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[HistoryBody]()) {
		return
	}
	f, err := body.filter(thread)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	d.writeHistory(w, r, thread, f)
}

func (b *HistoryBody) filter(thread string) (agents.HistoryFilter, error) {
	f := agents.HistoryFilter{Limit: defaultLimit, Metadata: b.Metadata}
	if b.Limit != nil {
		f.Limit = *b.Limit
	}
	if f.Limit < 1 || f.Limit > maxLimit {
		return f, rest.Invalid(fmt.Sprintf("limit: must be a number from 1 to %d", maxLimit))
	}
	if _, err := checkpointID(b.Checkpoint, "", thread); err != nil {
		return f, err
	}
	var err error
	f.Before, err = readBefore(b.Before, thread)
	return f, err
}

// readBefore reads the checkpoint that a list is to begin after: an id, a checkpoint, or a configuration
// with one.
func readBefore(doc json.RawMessage, thread string) (string, error) {
	var c Checkpoint
	switch kindOf(doc) {
	case "null":
		return "", nil
	case "string":
		_ = json.Unmarshal(doc, &c.ID) // it is one
	case "object":
		if inner := object(doc)["configurable"]; inner != nil {
			doc = inner
		}
		if err := json.Unmarshal(doc, &c); err != nil {
			return "", rest.Invalid("before: " + wrongType(err))
		}
	}
	id, ok := rest.UUID(c.ID)
	if !ok {
		return "", rest.Invalid("before: must be the id of a checkpoint, or an object with its checkpoint_id")
	}
	if c.ThreadID != "" && c.ThreadID != thread {
		return "", agents.ErrCheckpointNotFound
	}
	return id, nil
}

func (d *dialect) queryHistory(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	q := r.URL.Query()
	f := agents.HistoryFilter{Limit: defaultLimit}
	var err error
	if f.Limit, err = queryNumber(q.Get("limit"), "limit", defaultLimit, 1, maxLimit); err == nil && q.Get("before") != "" {
		f.Before, err = readBefore(encode(q.Get("before")), thread)
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	d.writeHistory(w, r, thread, f)
}

// queryNumber is a number of a query.
func queryNumber(text, name string, otherwise, least, most int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, rest.Invalid(fmt.Sprintf("%s: must be a number from %d to %d", name, least, most))
	}
	return n, nil
}

func (d *dialect) writeHistory(w http.ResponseWriter, r *http.Request, thread string, f agents.HistoryFilter) {
	list, err := d.View(r).History(r.Context(), thread, f)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	states := make([]ThreadState, len(list))
	for i, c := range list {
		states[i] = shownState(c)
	}
	rest.WriteJSON(w, states)
}
