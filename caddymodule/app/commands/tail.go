package commands

import (
	"cmp"
	"context"
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
	_, err := fmt.Fprintln(w, cli.OneLine(strings.Join(parts, "  ")))
	return err
}
