package sqlite

import (
	"strings"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/store"
)

// The columns of audit_events in the sections that an event has or has not. An INSERT names the
// sections it needs only: most of what a row costs is binding its columns, NULL ones too.
const (
	always     = `time, node, type, hash`
	whoColumns = `user, role, on_behalf_of, address, token_id, request_id`
	runColumns = `run, thread, agent`
	callColumn = `call, tool, action, input, decision, rule, reasons, policy_hash, policy_input, digest`
	endColumns = `output, duration, error, traceback, status`
	webColumns = `method, path, code`
	seeColumns = `findings, labels`

	eventColumns = `seq, ` + always + `, ` + whoColumns + `, ` + runColumns + `, ` + callColumn + `, ` + endColumns + `, ` + webColumns + `, ` + seeColumns
	turnColumns  = `seq, time, node, run, thread, agent, model, user, prompt_tokens, completion_tokens, total_tokens, estimated, duration, hash`
)

var (
	sections    = [...]string{whoColumns, runColumns, callColumn, endColumns, webColumns, seeColumns, `seq`}
	insertEvent = eventInserts()
	insertTurn  = insertInto(`audit_runs`, turnColumns)
)

// eventInserts makes the statement of each set of sections, a bit for each.
func eventInserts() (all [1 << len(sections)]string) {
	for set := range all {
		columns := always
		for i, s := range sections {
			if set&(1<<i) != 0 {
				columns += `, ` + s
			}
		}
		all[set] = insertInto(`audit_events`, columns)
	}
	return all
}

func insertInto(table, columns string) string {
	return `INSERT INTO ` + table + ` (` + columns + `) VALUES (?` + strings.Repeat(`,?`, strings.Count(columns, `,`)) + `)`
}

// eventRow and runRow are the statements that insert one record. A Seq is given for a copy only.
type (
	eventRow audit.Event
	runRow   audit.RunRecord
)

// Bind implements store.Statement.
func (e *eventRow) Bind(args []any) (query string, all []any) {
	args = append(args, e.Time.Format(audit.TimeFormat), e.Node, e.Type, e.Hash)
	set := 0
	section := func(bit int, values ...any) {
		for _, v := range values {
			if v != nil {
				args = append(args, values...)
				set |= 1 << bit
				return
			}
		}
	}
	section(0, text(e.User), text(e.Role), text(e.OnBehalfOf), text(e.Address), text(e.TokenID), text(e.RequestID))
	section(1, text(e.Run), text(e.Thread), text(e.Agent))
	section(2, text(e.Call), text(e.Tool), text(e.Action), text(e.Input), text(e.Decision), text(e.Rule), list(e.Reasons), text(e.PolicyHash), text(string(e.PolicyInput)), text(e.Digest))
	section(3, text(e.Output), number(e.Duration), text(e.Error), text(e.Traceback), text(e.Status))
	section(4, text(e.Method), text(e.Path), integer(int64(e.Code)))
	section(5, text(string(e.Findings)), list(e.Labels))
	section(6, integer(e.Seq))
	return insertEvent[set], args
}

// Bind implements store.Statement.
func (r *runRow) Bind(args []any) (query string, all []any) {
	return insertTurn, append(
		args,
		integer(r.Seq), r.Time.Format(audit.TimeFormat), r.Node, r.Run, text(r.Thread), text(r.Agent), text(r.Model), text(r.User),
		r.PromptTokens, r.CompletionTokens, r.TotalTokens, truth(r.Estimated), number(r.Duration), r.Hash,
	)
}

// single returns the statement of a batch that needs only one; otherwise nil.
func single(b audit.Batch) store.Statement {
	switch {
	case len(b.Events) == 1 && len(b.Runs) == 0:
		return (*eventRow)(&b.Events[0])
	case len(b.Events) == 0 && len(b.Runs) == 1:
		return (*runRow)(&b.Runs[0])
	}
	return nil
}

// insertAll inserts a batch of several records.
func insertAll(tx *store.Tx, b audit.Batch) error {
	insert := func(row store.Statement) error {
		query, args := row.Bind(nil)
		_, err := tx.Exec(query, args...)
		return err
	}
	for i := range b.Events {
		if err := insert((*eventRow)(&b.Events[i])); err != nil {
			return err
		}
	}
	for i := range b.Runs {
		if err := insert((*runRow)(&b.Runs[i])); err != nil {
			return err
		}
	}
	return nil
}

// The empty values of an event are NULL in its row.

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func integer(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func number(f float64) any {
	if f == 0 {
		return nil
	}
	return f
}

// truth is the database's form of a boolean.
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func list(l []string) any {
	if len(l) == 0 {
		return nil
	}
	return audit.FormatList(l)
}
