package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/plaintext"
	"github.com/svc-gateway/svc/policy"
)

var auditLimits = audit.Limits{Rows: 200, Bytes: 64 << 10, Time: 5 * time.Second}

const (
	auditRecords = 10_000 // of each table that a query sees, the newest
	auditCell    = 1000   // bytes shown of one value
)

// QueryAudit returns the tool query_audit {sql}: one SELECT on the caller's own
// records, for an admin on everybody's. The statement runs on a private copy in
// memory of the newest 10,000 records that the caller may see, or as many as fit in 64
// MiB, so that however it is written it reaches nothing else; see [audit.Reader.Query].
func QueryAudit(log *audit.Log) agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: "query_audit",
		Description: "Ask the audit log with one SQLite SELECT over the newest 10,000 records: the caller's own, for an admin everybody's. Views: " +
			"tool_calls(call, time, run, thread, agent, user, tool, action, decision, rule, reasons, status, duration_ms, input, output, error); " +
			"denials(seq, time, type, user, role, address, run, agent, call, tool, action, method, path, code, rule, reasons, error, thread, request_id). " +
			"Tables: audit_events(seq, time, type, run, thread, agent, user, role, address, request_id, call, tool, input, output, duration, error, decision, rule, reasons, status, method, path, code); " +
			"audit_runs(seq, time, run, agent, model, user, prompt_tokens, completion_tokens, total_tokens). Times are RFC 3339 text in UTC.",
		Parameters: []byte(`{"type":"object","properties":{"sql":{"type":"string","description":"One SELECT, for example: SELECT time, tool, status FROM tool_calls ORDER BY time DESC LIMIT 10"}},"required":["sql"],"additionalProperties":false}`),
		Action:     policy.Use,
	}, auditor{log, auditLimits}.query)
}

type auditor struct {
	log    *audit.Log
	limits audit.Limits
}

func (a auditor) query(ctx context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
	if err := known(args, "sql"); err != nil {
		return agents.Result{}, err
	}
	query, err := textArg(args, "sql")
	if err != nil {
		return agents.Result{}, err
	}
	f, err := visible(tc.Principal)
	if err != nil {
		return agents.Result{}, err
	}
	columns, rows, err := a.log.Query(ctx, f, query, a.limits)
	if err != nil && (!errors.Is(err, audit.ErrLimit) || len(rows) == 0) {
		return agents.Result{}, err
	}
	return agents.Result{Text: asText(columns, rows, err), Truncated: err != nil}, nil
}

// visible selects the records that p may see.
func visible(p policy.Principal) (audit.Filter, error) {
	switch {
	case p.User == "":
		return audit.Filter{}, errors.New("the audit log cannot be read without a user")
	case p.Role == policy.Admin:
		return audit.Filter{Newest: true, Limit: auditRecords}, nil
	}
	return audit.Filter{User: cmp.Or(p.OnBehalfOf, p.User), Newest: true, Limit: auditRecords}, nil
}

// asText writes rows as lines of values between bars, under a line of the columns' names
// and above the number of rows. over says why they are not all of them, nil when they are.
func asText(columns []string, rows [][]any, over error) string {
	var b strings.Builder
	line := func(n int, cell func(i int) string) {
		for i := range n {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(cell(i))
		}
		b.WriteByte('\n')
	}
	line(len(columns), func(i int) string { return cell(columns[i]) })
	for _, row := range rows {
		line(len(row), func(i int) string { return cell(row[i]) })
	}
	count := "rows"
	if len(rows) == 1 {
		count = "row"
	}
	fmt.Fprintf(&b, "(%d %s)\n", len(rows), count)
	if over != nil {
		return noted(b.String(), "cut: %v", over)
	}
	return b.String()
}

var oneLine = strings.NewReplacer("\n", " ", "\t", " ", "|", "¦")

// cell is one value in one line.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		return fmt.Sprintf("(%d bytes)", len(v))
	case string:
		if len(v) > auditCell {
			return oneLine.Replace(plaintext.Clean(plaintext.Whole([]byte(v[:auditCell])))) + "…"
		}
		return oneLine.Replace(plaintext.Clean([]byte(v)))
	}
	return fmt.Sprint(v)
}
