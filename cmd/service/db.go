package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/duckwire"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name: "db", Short: "Fills and asks the analytical database",
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use = "db"
			cmd.Long = `Fills and asks the analytical database, which agents can query. The service may run or not. The
helper program svc-duck must be beside this one, or where the setting database.helper says.`
			cli.Group(cmd, dbImportCommand(), dbQueryCommand())
		},
	})
}

// maxAnswer is how many bytes the rows of an answer for people may have.
const maxAnswer = 256 << 20

func dbQueryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "query SQL", Short: "Runs one read-only statement on the newest data", Args: cli.Args(cobra.ExactArgs(1)),
		Long: `Runs one SELECT, EXPLAIN, DESCRIBE, SHOW or SUMMARIZE on a new snapshot of the analytical database.`,
		Example: `  service db query "show tables"
  service db query "select day, sum(amount) from sales group by day" --format csv`,
	}
	format := cmd.Flags().String("format", "table", "table, json or csv")
	asJSON := cmd.Flags().Bool("json", false, "print a JSON document with the types of the columns")
	limit := cmd.Flags().Int("limit", 10_000, "maximum number of rows")
	var o dbOptions
	o.flags(cmd)
	cmd.RunE = cli.Run(func(cmd *cobra.Command, args []string) error {
		if _, ok := cli.Formats[*format]; !ok {
			return cli.Usagef("--format: %q is not one of table, json and csv", *format)
		}
		if *limit < 1 {
			return cli.Usagef("--limit: %d is not a number of rows", *limit)
		}
		return o.run(cmd, func(ctx context.Context, d *analytics.DB, r recorder) error {
			var a duckwire.Answer
			err := r.record(ctx, app.ActionQuery, map[string]any{"sql": args[0], "limit": *limit}, func() (any, error) {
				var err error
				a, err = d.Query(ctx, analytics.Query{SQL: args[0], Rows: *limit, Bytes: maxAnswer})
				return map[string]any{"rows": len(a.Rows), "truncated": a.Truncated != ""}, err
			})
			if err != nil {
				return err
			}
			if *asJSON {
				err = cli.JSON(cmd.OutOrStdout(), document(a))
			} else {
				err = printAnswer(cmd, a, *format)
			}
			if a.Truncated == duckwire.TruncatedRows {
				err = errors.Join(err, fmt.Errorf("there are more rows than --limit %d", *limit))
			} else if a.Truncated != "" {
				err = errors.Join(err, fmt.Errorf("the answer was cut at %d MiB: select less", maxAnswer>>20))
			}
			return err
		})
	})
	cli.Group(cmd)
	return cmd
}

// document is an answer for programs.
func document(a duckwire.Answer) any {
	rows := a.Rows
	if rows == nil {
		rows = []json.RawMessage{}
	}
	return struct {
		Columns   []duckwire.Column `json:"columns"`
		Rows      []json.RawMessage `json:"rows"`
		Truncated string            `json:"truncated,omitempty"`
	}{a.Columns, rows, a.Truncated}
}

func printAnswer(cmd *cobra.Command, a duckwire.Answer, format string) error {
	columns := make([]string, len(a.Columns))
	for i, c := range a.Columns {
		columns[i] = c.Name
	}
	rows := make([][]any, len(a.Rows))
	for i, raw := range a.Rows {
		var values []json.RawMessage
		if err := json.Unmarshal(raw, &values); err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
		rows[i] = make([]any, len(values))
		for j, v := range values {
			if rows[i][j] = any(v); format != "json" {
				rows[i][j] = cell(v)
			}
		}
	}
	return cli.Formats[format](cmd.OutOrStdout(), columns, rows)
}

// cell is a value as text: a string without its quotes, nothing for null.
func cell(v json.RawMessage) any {
	var s string
	switch {
	case bytes.Equal(v, []byte("null")):
		return nil
	case json.Unmarshal(v, &s) == nil:
		return s
	}
	return string(v)
}
