package agents

import (
	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/fetch"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/agents/tools"
	"github.com/svc-gateway/svc/agents/undo"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Means are what tools work with. Without them they describe and class calls, and nothing else; Web and
// Devices are required.
type Means struct {
	Log      *audit.Log
	Box      tools.Sandbox
	Keeper   *undo.Keeper
	Database *analytics.DB
	Web      *fetch.Client
	Secrets  *redact.Secrets
	Memory   *memory.Keeper
	Devices  *device.Fleet
}

// Tools are the tools of the runtime.
func Tools(s settings.Settings, home settings.Home, m Means) []agents.Tool {
	code := tools.CodeConfig{Box: m.Box, Log: m.Log, Timeout: s.Runtime.Timeout}
	if m.Database != nil {
		code.Database = m.Database
	}
	for _, l := range s.Languages() {
		code.Languages = append(code.Languages, tools.Language(l))
	}
	writer := tools.NewWriter(s.Runtime.ProjectRoot, m.Keeper, home.Dir())
	return append([]agents.Tool{
		tools.RunCommand(s.Runtime.ProjectRoot, m.Box, home.Dir()),
		tools.At(tools.RunCode(code), place(s.Sandbox)),
		tools.HTTPGet(m.Web, m.Log, s.Runtime.Timeout),
		tools.HTTPRequest(m.Web, m.Secrets, m.Log, s.Runtime.Timeout),
		writer.WriteFile(),
		writer.EditFile(),
		tools.ReadFile(s.Runtime.ProjectRoot, home.Dir()),
		tools.QueryAudit(m.Log),
		tools.WriteTodos(),
		analytics.QueryDatabase(m.Database),
		memory.Tool(m.Memory),
	}, deviceTools(s, home, m.Database, m.Devices)...)
}

// newTools are the tools with what they work with here.
func newTools(a *app.App, opened *host, db *analytics.DB, known *memory.Keeper) ([]agents.Tool, error) {
	web, err := newWeb(a.Settings(), a.Secrets())
	if err != nil {
		return nil, err
	}
	devices, err := newFleet(a.Settings(), a.Home(), a.Secrets())
	if err != nil {
		return nil, err
	}
	return Tools(a.Settings(), a.Home(), Means{
		Log: a.Audit(), Box: opened.boxes, Keeper: opened.undo, Database: db, Web: fetch.New(web), Secrets: a.Secrets(), Memory: known, Devices: devices,
	}), nil
}
