package langgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/policy"
)

// Cron is a cron as it is shown.
type Cron struct {
	CronID         string          `json:"cron_id" required:"true" format:"uuid"`
	AssistantID    string          `json:"assistant_id" required:"true" format:"uuid"`
	ThreadID       *string         `json:"thread_id" required:"true" format:"uuid"`
	Schedule       string          `json:"schedule" required:"true"`
	Timezone       string          `json:"timezone" required:"true"`
	EndTime        *string         `json:"end_time" required:"true" format:"date-time"`
	Enabled        bool            `json:"enabled" required:"true"`
	OnRunCompleted string          `json:"on_run_completed" required:"true" enum:"delete,keep"`
	Payload        json.RawMessage `json:"payload" required:"true" description:"what its runs are started with; credentials are redacted"`
	Metadata       map[string]any  `json:"metadata" required:"true" nullable:"false"`
	UserID         string          `json:"user_id" required:"true"`
	CreatedAt      string          `json:"created_at" required:"true" format:"date-time"`
	UpdatedAt      string          `json:"updated_at" required:"true" format:"date-time"`
	NextRunDate    *string         `json:"next_run_date" required:"true" format:"date-time" description:"null when no run will be started"`
	Last           *CronOutcome    `json:"last_run,omitempty" description:"what became of the last time that it was due"`
}

// CronOutcome is what became of a time of a schedule.
type CronOutcome struct {
	Due      string `json:"due" required:"true" format:"date-time"`
	Status   string `json:"status" required:"true" enum:"starting,started,refused,skipped,failed" description:"a cron that is refused is switched off"`
	RunID    string `json:"run_id,omitempty" format:"uuid"`
	ThreadID string `json:"thread_id,omitempty" format:"uuid"`
	Code     string `json:"code,omitempty" description:"why there is no run: a stable word"`
}

// CronPath is the path of a cron.
type CronPath struct {
	Cron string `path:"cron_id" json:"-" required:"true" format:"uuid"`
}

// CronBody is the body of POST /runs/crons: what a run is asked for with, and when.
type CronBody struct {
	RunBody
	Schedule       string `json:"schedule" required:"true" minLength:"1" description:"five fields: minute, hour, day, month, weekday; or @hourly, @daily, @weekly, @monthly, @yearly, @every with a time such as 90m"`
	Timezone       string `json:"timezone,omitempty" default:"UTC" description:"of the schedule: a name of the IANA database"`
	EndTime        string `json:"end_time,omitempty" description:"no run starts after it: a time as in RFC 3339"`
	Enabled        *bool  `json:"enabled,omitempty" default:"true" nullable:"false"`
	OnRunCompleted string `json:"on_run_completed,omitempty" enum:"delete,keep" default:"delete" description:"of runs without a thread: whether their threads stay"`
}

// ThreadCronBody is CronBody on a thread.
type ThreadCronBody struct {
	ThreadPath
	CronBody
}

// CronPatch is the body of PATCH /runs/crons/{cron_id}. What is absent stays.
type CronPatch struct {
	CronPath
	Schedule        *string         `json:"schedule,omitempty" nullable:"false"`
	Timezone        *string         `json:"timezone,omitempty" nullable:"false"`
	EndTime         *string         `json:"end_time,omitempty" nullable:"false" description:"empty: there is no end"`
	Enabled         *bool           `json:"enabled,omitempty" nullable:"false"`
	OnRunCompleted  string          `json:"on_run_completed,omitempty" enum:"delete,keep"`
	Input           json.RawMessage `json:"input,omitempty"`
	Config          *Config         `json:"config,omitempty" nullable:"false"`
	Context         map[string]any  `json:"context,omitempty" nullable:"false"`
	Metadata        map[string]any  `json:"metadata,omitempty" nullable:"false" description:"put beside what there is"`
	Webhook         *string         `json:"webhook,omitempty" nullable:"false"`
	InterruptBefore json.RawMessage `json:"interrupt_before,omitempty"`
	InterruptAfter  json.RawMessage `json:"interrupt_after,omitempty"`
}

// CronSearch is the body of POST /runs/crons/search and /runs/crons/count.
type CronSearch struct {
	SearchPage
	AssistantID string         `json:"assistant_id,omitempty" description:"an assistant's id, or the name of an agent"`
	ThreadID    string         `json:"thread_id,omitempty" format:"uuid"`
	Enabled     *bool          `json:"enabled,omitempty" nullable:"false"`
	Metadata    map[string]any `json:"metadata,omitempty" nullable:"false" description:"what its metadata contains"`
}

// cronRoutes are the endpoints of crons.
func (d *dialect) cronRoutes() []rest.Route {
	one, faults := rest.JSON(new(Cron)), []int{400, 404, 409, 413, 415, 422, 503}
	return []rest.Route{
		{
			Method: http.MethodPost, Path: "/runs/crons", Action: policy.Use, Summary: "Start runs at the times of a schedule, each on a thread of its own",
			Request: new(CronBody), Success: one, Faults: faults, Serve: d.createCron,
		},
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/runs/crons", Action: policy.Use, Summary: "Start runs on a thread at the times of a schedule",
			Request: new(ThreadCronBody), Success: one, Faults: faults, Serve: d.createThreadCron,
		},
		{
			Method: http.MethodPost, Path: "/runs/crons/search", Action: policy.Use, Summary: "Search crons, the newest first",
			Request: new(CronSearch), Success: rest.JSON(new([]Cron)), Faults: faults, Serve: d.searchCrons,
		},
		{
			Method: http.MethodPost, Path: "/runs/crons/count", Action: policy.Use, Summary: "Count crons",
			Request: new(CronSearch), Success: rest.JSON(new(int)), Faults: faults, Serve: d.countCrons,
		},
		{
			Method: http.MethodPatch, Path: "/runs/crons/{cron_id}", Action: policy.Use, Summary: "Change a cron",
			Request: new(CronPatch), Success: one, Faults: faults, Serve: d.patchCron,
		},
		{
			Method: http.MethodDelete, Path: "/runs/crons/{cron_id}", Action: policy.Use, Summary: "Delete a cron",
			Request: new(CronPath), Success: rest.Nothing(http.StatusNoContent), Faults: []int{404, 422, 503}, Serve: d.deleteCron,
		},
	}
}

func (d *dialect) shownCron(c cron.Cron) Cron {
	shown := Cron{
		CronID: c.ID, AssistantID: c.Assistant, ThreadID: orNull(c.Thread), Schedule: c.Schedule, Timezone: c.Timezone, EndTime: stampOrNull(c.End),
		Enabled: c.Enabled, OnRunCompleted: "delete", Payload: d.Options.Secrets.RedactJSON(c.Payload), Metadata: c.Metadata, UserID: c.Owner,
		CreatedAt: stamp(c.Created), UpdatedAt: stamp(c.Updated), NextRunDate: stampOrNull(c.Next),
	}
	if c.Timezone == "" {
		shown.Timezone = "UTC"
	}
	if c.Keep {
		shown.OnRunCompleted = "keep"
	}
	if c.Metadata == nil {
		shown.Metadata = none
	}
	if l := c.Last; l.Status != "" {
		shown.Last = &CronOutcome{stamp(l.Due), string(l.Status), l.Run, l.Thread, l.Code}
	}
	return shown
}

// orNull is a text, null for none.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// stampOrNull is a time as it is shown, null for none.
func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(stamp(t))
}

func (d *dialect) createCron(w http.ResponseWriter, r *http.Request) {
	var b CronBody
	if d.DecodeOpen(w, r, &b, d.Options.BodyBytes, membersOf[CronBody]()) {
		d.newCron(w, r, "", &b)
	}
}

func (d *dialect) createThreadCron(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var b ThreadCronBody
	if d.DecodeOpen(w, r, &b, d.Options.BodyBytes, membersOf[ThreadCronBody]()) {
		d.newCron(w, r, thread, &b.CronBody)
	}
}

// newCron creates a cron, or answers why not.
func (d *dialect) newCron(w http.ResponseWriter, r *http.Request, thread string, b *CronBody) {
	c, err := d.cronOf(r, thread, b)
	if err == nil {
		c, err = d.Options.Crons.Create(r.Context(), rest.Caller(r), c)
	}
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	rest.WriteJSON(w, d.shownCron(c))
}

// cronOf is the cron that a request asks for. What a run of it would be refused for now is refused.
func (d *dialect) cronOf(r *http.Request, thread string, b *CronBody) (cron.Cron, error) {
	if b.resumes() {
		return cron.Cron{}, rest.Invalid("command.resume: a cron starts runs and cannot answer what one waits for")
	}
	if thread != "" {
		if _, err := d.View(r).Thread(r.Context(), thread); err != nil {
			return cron.Cron{}, err
		}
	}
	as, err := d.startable(r.Context(), d.View(r), b.Assistant, thread, b.RunBody)
	if err != nil {
		return cron.Cron{}, err
	}
	end, err := readEnd(b.EndTime)
	if err != nil {
		return cron.Cron{}, err
	}
	c := cron.Cron{
		Assistant: as.ID, Thread: thread, Schedule: b.Schedule, Timezone: b.Timezone, End: end, Enabled: b.Enabled == nil || *b.Enabled,
		Keep: b.OnRunCompleted == "keep", Metadata: b.Metadata,
	}
	b.Metadata = nil // the cron has it, and gives it to its runs
	c.Payload, err = json.Marshal(b.RunBody)
	return c, err
}

// readEnd reads the time of a cron's end; empty: there is none.
func readEnd(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	end, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return end, rest.Invalid("end_time: must be a time such as 2027-01-31T12:00:00Z")
	}
	return end.UTC().Truncate(time.Millisecond), nil
}

func (d *dialect) patchCron(w http.ResponseWriter, r *http.Request) {
	id, ok := rest.PathID(w, r, "cron_id")
	if !ok {
		return
	}
	var b CronPatch
	if !d.DecodeOpen(w, r, &b, d.Options.BodyBytes, membersOf[CronPatch]()) {
		return
	}
	p := cron.Patch{Schedule: b.Schedule, Timezone: b.Timezone, Enabled: b.Enabled, Metadata: b.Metadata}
	if b.EndTime != nil {
		end, err := readEnd(*b.EndTime)
		if err != nil {
			d.Fail(w, r, err)
			return
		}
		p.End = &end
	}
	if b.OnRunCompleted != "" {
		keep := b.OnRunCompleted == "keep"
		p.Keep = &keep
	}
	p.Payload = func(c cron.Cron) (json.RawMessage, error) { return d.patched(r, c, &b) }
	c, err := d.Options.Crons.Update(r.Context(), rest.Caller(r), id, p)
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	rest.WriteJSON(w, d.shownCron(c))
}

// patched is what a cron's runs are started with after a change.
func (d *dialect) patched(r *http.Request, c cron.Cron, b *CronPatch) (json.RawMessage, error) {
	var body RunBody
	if err := json.Unmarshal(c.Payload, &body); err != nil {
		return nil, fmt.Errorf("reading what the cron's runs are started with: %w", err)
	}
	for _, m := range []struct{ to, from *json.RawMessage }{
		{&body.Input, &b.Input}, {&body.InterruptBefore, &b.InterruptBefore}, {&body.InterruptAfter, &b.InterruptAfter},
	} {
		if len(*m.from) > 0 {
			*m.to = *m.from
		}
	}
	if b.Config != nil {
		body.Config = b.Config
	}
	if b.Context != nil {
		body.Context = b.Context
	}
	if b.Webhook != nil {
		body.Webhook = *b.Webhook
	}
	if _, err := d.startable(r.Context(), d.View(r), c.Assistant, c.Thread, body); err != nil {
		return nil, err
	}
	return json.Marshal(body)
}

func (d *dialect) deleteCron(w http.ResponseWriter, r *http.Request) {
	id, ok := rest.PathID(w, r, "cron_id")
	if !ok {
		return
	}
	if err := d.Options.Crons.Delete(r.Context(), rest.Caller(r), id); err != nil {
		d.failKept(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// cronFilter reads what a search for crons asks for, or answers what is wrong with it.
func (d *dialect) cronFilter(w http.ResponseWriter, r *http.Request, b *CronSearch) (cron.Filter, bool) {
	if !d.DecodeOpen(w, r, b, min(maxAssistant, d.Options.BodyBytes), membersOf[CronSearch]()) {
		return cron.Filter{}, false
	}
	f := cron.Filter{
		Owner: b.UserID, Thread: b.ThreadID, Enabled: b.Enabled, Metadata: b.Metadata,
		SortBy: b.SortBy, Ascending: b.SortOrder == "asc", Limit: b.limit(), Offset: b.Offset,
	}
	if b.AssistantID != "" {
		as, err := d.assistant(r.Context(), b.AssistantID)
		if err != nil {
			d.Fail(w, r, err)
			return f, false
		}
		f.Assistant = as.ID
	}
	return f, true
}

func (d *dialect) searchCrons(w http.ResponseWriter, r *http.Request) {
	var b CronSearch
	f, ok := d.cronFilter(w, r, &b)
	if !ok {
		return
	}
	page, total, err := d.Options.Crons.Search(r.Context(), rest.Caller(r), f)
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	shown := make([]Cron, len(page))
	for i, c := range page {
		shown[i] = d.shownCron(c)
	}
	writePage(w, shown, total, &b.SearchPage)
}

func (d *dialect) countCrons(w http.ResponseWriter, r *http.Request) {
	var b CronSearch
	f, ok := d.cronFilter(w, r, &b)
	if !ok {
		return
	}
	n, err := d.Options.Crons.Count(r.Context(), rest.Caller(r), f)
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	rest.WriteJSON(w, n)
}
