package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

// followInterval is how often tail --follow looks for new events.
const followInterval = 250 * time.Millisecond

// formats are the ways to print the result of a query.
var formats = map[string]func(w io.Writer, columns []string, rows [][]any) error{
	"table": func(w io.Writer, columns []string, rows [][]any) error {
		return cli.Table(w, columns, texts(rows))
	},
	"csv": func(w io.Writer, columns []string, rows [][]any) error {
		out := csv.NewWriter(w)
		if err := out.Write(columns); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
		return out.WriteAll(texts(rows))
	},
	"json": func(w io.Writer, columns []string, rows [][]any) error {
		all := make([]json.RawMessage, len(rows))
		for i, row := range rows {
			var err error
			if all[i], err = object(columns, row); err != nil {
				return err
			}
		}
		return cli.JSON(w, all)
	},
}

// object is a row as a JSON object with its columns in their order; of two columns of one name
// the last counts.
func object(columns []string, row []any) (json.RawMessage, error) {
	b := []byte{'{'}
	for i, c := range columns {
		if slices.Contains(columns[i+1:], c) {
			continue
		}
		v := row[i]
		if raw, ok := v.([]byte); ok {
			v = string(raw)
		}
		name, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("writing the result: %w", err)
		}
		value, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("writing the result: %w", err)
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

func texts(rows [][]any) [][]string {
	all := make([][]string, len(rows))
	for i, row := range rows {
		all[i] = make([]string, len(row))
		for j, v := range row {
			switch v := v.(type) {
			case nil:
			case []byte:
				all[i][j] = string(v)
			case float64:
				all[i][j] = strconv.FormatFloat(v, 'f', -1, 64)
			default:
				all[i][j] = fmt.Sprint(v)
			}
		}
	}
	return all
}

// tail prints the newest events that f selects and, with follow, those to come until ctx ends.
func tail(ctx context.Context, w io.Writer, r *audit.Reader, f audit.Filter, lines int, follow, asJSON bool) error {
	f.Newest, f.Limit = true, lines
	for {
		events, err := r.Events(ctx, f)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if f.Newest {
			slices.Reverse(events)
		}
		for _, e := range events {
			if err := printEvent(w, e, asJSON); err != nil {
				return err
			}
			f.After = e.Seq
		}
		if !follow {
			return nil
		}
		f.Newest, f.Limit = false, 0
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followInterval):
		}
	}
}

// clip keeps a value from filling the screen; --json has all of it.
func clip(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// printEvent prints an event as one line.
func printEvent(w io.Writer, e audit.Event, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(e)
	}
	parts := []string{e.Time.Local().Format("2006-01-02 15:04:05.000"), fmt.Sprintf("%-12s", e.Type), cmp.Or(e.User, "-")}
	for _, p := range []struct{ name, value string }{
		{"agent", e.Agent},
		{"tool", e.Tool},
		{"action", e.Action},
		{"decision", e.Decision},
		{"rule", e.Rule},
		{"status", e.Status},
		{"input", e.Input},
		{"error", e.Error},
	} {
		if p.value != "" {
			parts = append(parts, p.name+"="+clip(p.value))
		}
	}
	if e.Method != "" {
		parts = append(parts, e.Method, e.Path, strconv.Itoa(e.Code))
	}
	_, err := fmt.Fprintln(w, oneLine(strings.Join(parts, "  ")))
	return err
}
