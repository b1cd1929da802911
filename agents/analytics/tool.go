package analytics

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/policy"
)

// The limits of an answer for a model.
const (
	toolRows  = 200
	toolBytes = 64 << 10
)

// QueryDatabase returns the tool query_database {sql}: one statement that asks, on a snapshot of the
// analytical database. Everybody who may use tools may use it; it can change nothing.
func QueryDatabase(d *DB) agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: "query_database",
		Description: "Ask the analytical database (DuckDB) with one read-only SQL statement: SELECT, EXPLAIN, DESCRIBE, SHOW or SUMMARIZE. " +
			"It has the tables that people imported: list them with SHOW TABLES, their columns with DESCRIBE name, and look at the values with SUMMARIZE name. " +
			fmt.Sprintf("An answer has at most %d rows and %d KiB, so aggregate, filter and use LIMIT. ", toolRows, toolBytes>>10) +
			"It is JSON: the columns with their types, then the rows. Whole numbers beyond 2^53 and decimals are strings, times are RFC 3339 in UTC, blobs base64. " +
			"Files, other databases, settings and extensions cannot be reached.",
		Parameters: []byte(`{"type":"object","properties":{"sql":{"type":"string","minLength":1,"description":"One statement, for example: SELECT day, sum(amount) AS total FROM sales GROUP BY day ORDER BY day LIMIT 20"}},"required":["sql"],"additionalProperties":false}`),
		Action:     policy.Use,
	}, func(ctx context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
		sql, ok := args["sql"].(string)
		if !ok || strings.TrimSpace(sql) == "" {
			return agents.Result{}, errors.New(`the argument "sql" must be one statement`)
		}
		a, err := d.Query(ctx, Query{SQL: sql, Rows: toolRows, Bytes: toolBytes, MaxAge: d.config.MaxAge})
		if err != nil {
			return agents.Result{}, err
		}
		text, err := a.Document()
		return agents.Result{Text: text, Truncated: a.Truncated != ""}, err
	})
}
