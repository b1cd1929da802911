package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// question is a kind of agent run.
type question struct {
	name      string
	assistant string // empty: the default
	text      string
	word      string // that the answer has
	tools     int
	child     bool // the tool is a process
}

var questions = []question{
	{name: "no tool, quick", assistant: "quick", text: "Tell me about yourself", word: "demo"},
	{name: "no tool, default", text: "Tell me about yourself", word: "demo"},
	{name: "read_file, core", assistant: "core", text: "show notes.txt", word: "marmalade", tools: 1},
	{name: "df, core", assistant: "core", text: "How full are the disks on this host?", word: "disk", tools: 1, child: true},
}

const notes = "Buy marmalade.\nCall the plumber about the tap in the cellar.\n"

// runs measures complete runs with the demo model, and checks that the audit log has all of
// them.
func (b *bench) runs(ctx context.Context) error {
	root, err := b.site.folder("project")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "notes.txt"), []byte(notes), 0o600); err != nil {
		return fmt.Errorf("writing a file to read: %w", err)
	}
	sv, err := b.site.web(ctx, "runs", "SVC_RUNTIME_PROJECT_ROOT="+root)
	if err != nil {
		return err
	}
	defer sv.stop()
	if err := b.probeDisk(); err != nil {
		return err
	}
	for _, q := range questions {
		if q.child && !b.plan.children {
			continue
		}
		for _, n := range []int{1, 50} {
			b.progress("%s, %d clients", q.name, n)
			if err := b.ask(ctx, q, n, sv); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
	}
	if err := b.probeDisk(); err != nil {
		return err
	}
	return b.accounted(ctx, sv)
}

func (b *bench) ask(ctx context.Context, q question, clients int, sv *service) error {
	body := `{"input":{"messages":[{"role":"user","content":"` + q.text + `"}]}}`
	if q.assistant != "" {
		body = strings.TrimSuffix(body, "}") + `,"assistant_id":"` + q.assistant + `"}`
	}
	var samples []sample
	for range b.plan.rounds {
		s, err := load{
			addr: sv.addr, clients: clients, request: post("/runs/stream", sv.token, []byte(body)),
			check: func() checker { return &answered{word: q.word, tools: q.tools} },
			warm:  b.plan.warm, lasting: b.plan.run, pid: sv.pid(),
		}.measure(ctx)
		if err != nil {
			return err
		}
		samples = append(samples, s)
	}
	b.report.Runs = append(b.report.Runs, runFigures{Name: q.name, Clients: clients, Child: q.child, sample: medians(samples)})
	return nil
}

// accounted compares the records of what was begun and ended: a run or a call that is missing
// in the log makes the figures worthless.
func (b *bench) accounted(ctx context.Context, sv *service) error {
	out, err := b.site.command(ctx, b.site.env(sv.home), "audit", "query", "--format", "csv",
		"select type, count(*) from audit_events where type in ('request','run.start','run.end','tool.start','tool.end') group by type")
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	n := map[string]int{}
	for _, row := range rows[1:] {
		if n[row[0]], err = strconv.Atoi(row[1]); err != nil {
			return fmt.Errorf("reading the audit log: %w", err)
		}
	}
	b.report.Recorded = n
	if n["run.start"] == 0 || n["run.end"] != n["run.start"] || n["tool.end"] != n["tool.start"] || n["request"] < n["run.start"] {
		return fmt.Errorf("the audit log does not account for what was done: %v", n)
	}
	return nil
}
