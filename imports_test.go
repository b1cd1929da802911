package svc_test

import (
	"slices"
	"strings"
	"testing"
)

const caddy = "github.com/caddyserver/caddy/v2"

// rule says which packages of ours a part may import. A name ending in /... stands for all
// packages below it too.
type rule struct {
	part string
	may  []string
}

// matrix is the order of the layers, the lowest first; a package is held to the first rule whose
// part it belongs to. What is in a part may import the rest of its part.
var matrix = []rule{
	{"scanner/internal/text", nil},
	{"scanner/internal/cpu", nil},
	{"scanner/sqltoken", nil},
	{"scanner/sse", nil},
	{"scanner/jsonscan", []string{"scanner/internal/text"}},
	{"scanner/inject/...", []string{"scanner", "scanner/internal/text"}},
	{"scanner/redact/wiretest", nil},
	{"scanner/redact/words", []string{"scanner/internal/text"}},
	{"scanner/redact/looks", []string{"scanner/internal/text", "scanner/redact/words"}},
	{"scanner/redact/literal", []string{"scanner/internal/text"}},
	{"scanner/redact/typed", []string{"scanner/internal/text"}},
	{"scanner/redact/device", []string{"scanner/internal/text", "scanner/redact/words"}},
	{"scanner/model/...", []string{"scanner", "scanner/internal/text"}},
	{"scanner/redact/...", []string{"scanner", "scanner/internal/text", "scanner/jsonscan", "scanner/sse"}}, // an event stream is read line by line
	{"scanner/command/...", []string{"scanner", "scanner/internal/text", "scanner/sqltoken"}},               // statements are judged by their tokens
	{"scanner", []string{"scanner/internal/text"}},
	{"internal/classifier/...", []string{"scanner", "scanner/redact", "internal/..."}}, // what is sent away is redacted
	{"internal/...", []string{"scanner", "internal/..."}},
	{"audit/...", []string{"scanner", "scanner/redact", "scanner/sqltoken", "internal/store/..."}},
	{"policy/identity/...", []string{"policy", "audit", "internal/..."}},
	{"policy/...", []string{"scanner", "scanner/command", "internal/suggest"}},
	{"agents/...", []string{"scanner/...", "audit", "policy/...", "internal/..."}},
	{"caddymodule/app/commands/...", []string{"caddymodule/app/...", "scanner/...", "audit", "policy", "internal/..."}},
	{"caddymodule/app/...", []string{"scanner/redact", "audit/...", "policy/...", "internal/..."}},
	{"caddymodule/order/...", nil},
	{"caddymodule/directive/...", []string{"caddymodule/order"}},
	{"caddymodule/refusal/...", []string{"internal/..."}},
	{"caddymodule/metric/...", nil},
	{"caddymodule/auth/...", stage},
	{"caddymodule/scan/...", append([]string{"scanner", "scanner/inject", "scanner/model", "scanner/redact", "scanner/jsonscan", "scanner/sse"}, stage...)},
	{"caddymodule/redact/...", append([]string{"scanner/redact", "scanner/jsonscan", "scanner/sse"}, stage...)},
	{"caddymodule/stream/...", append([]string{"scanner/sse"}, stage...)},
	{"caddymodule/interop/...", nil},
	{"caddymodule/agents/...", []string{"..."}},
	{"cmd/svc-duck/...", []string{"internal/..."}},
	{"cmd/...", []string{"..."}},
	{"bench/...", []string{"..."}},
	{"testscript/...", []string{"agents/device/devicetest", "agents/model/fakeanthropic", "agents/model/fakeopenai", "agents/sandbox/remote/remotetest"}},
	{".", nil},
}

// stage is what a stage that works in any Caddy may import: never the runtime.
var stage = []string{"caddymodule/app", "caddymodule/app/commands", "caddymodule/directive", "caddymodule/metric", "caddymodule/refusal", "audit", "policy/...", "internal/..."}

// testHelpers are used by tests only and may import what they help to test.
var testHelpers = []string{"caddymodule/auth/caddytest", "internal/browsertest"}

func in(name, part string) bool {
	if part == "..." {
		return true
	}
	below, all := strings.CutSuffix(part, "/...")
	return name == below || all && strings.HasPrefix(name, below+"/")
}

func ours(path string) (name string, ok bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

func TestImportMatrix(t *testing.T) {
	for _, p := range repository(t) {
		i := slices.IndexFunc(matrix, func(r rule) bool { return in(p.name(), r.part) })
		if i < 0 {
			t.Errorf("%s has no place in the matrix of imports", p.name())
			continue
		}
		if slices.Contains(testHelpers, p.name()) {
			continue
		}
		may := append([]string{matrix[i].part}, matrix[i].may...)
		for _, path := range p.Imports {
			name, ok := ours(path)
			if ok && !slices.ContainsFunc(may, func(part string) bool { return in(name, part) }) {
				t.Errorf("%s imports %s: %s may import %v only", p.name(), name, matrix[i].part, matrix[i].may)
			}
		}
	}
}

// importers says who may import a part, for parts that nobody else must know of. Tests may: what they
// import is not looked at.
var importers = map[string][]string{
	// The embedded databases are behind a seam each.
	"internal/store": {"audit/sqlite", "policy/identity/sqlite", "agents/state"},
	// An implementation of a seam is known to who assembles the service, and to helpers of tests.
	"audit/sqlite":           {"caddymodule/app", "audit/audittest"},
	"policy/identity/sqlite": {"caddymodule/app", "policy/identity/identitytest", "bench"},
	"agents/state":           {"caddymodule/agents"},
	"internal/bus/redis":     {"caddymodule/app"},
	// What the service and its helper say to each other.
	"internal/duckwire": {"agents/analytics", "agents/inventory", "agents/syslog", "cmd/service", "cmd/svc-duck", "bench"},
}

// Nothing above a seam knows how the data is kept, nor in which file.
func TestStorageIsBehindItsSeams(t *testing.T) {
	imported := map[string]bool{}
	for _, p := range repository(t) {
		for _, path := range p.Imports {
			name, _ := ours(path)
			allowed, guarded := importers[name]
			if imported[name] = true; guarded && !slices.Contains(allowed, p.name()) {
				t.Errorf("%s imports %s, as only %v may", p.name(), name, allowed)
			}
		}
	}
	for name := range importers {
		if !imported[name] {
			t.Errorf("nobody imports %s: the test has an old name of it", name)
		}
	}
}

func TestCaddyIsImportedByItsModulesOnly(t *testing.T) {
	for _, p := range repository(t) {
		if in(p.name(), "caddymodule/...") || in(p.name(), "cmd/service") {
			continue
		}
		for _, path := range p.Deps {
			if strings.HasPrefix(path, caddy) {
				t.Errorf("%s depends on %s", p.name(), path)
				break
			}
		}
	}
}

// The scanner is text in, findings out.
func TestScannerDoesNoIO(t *testing.T) {
	for _, p := range repository(t) {
		if !in(p.name(), "scanner/...") {
			continue
		}
		for _, path := range p.Imports {
			switch path {
			case "os", "io", "io/fs", "io/ioutil", "bufio", "net", "syscall", "database/sql", "log", "log/slog":
				t.Errorf("%s imports %s", p.name(), path)
			}
			if strings.HasPrefix(path, "net/") && path != "net/url" && path != "net/netip" || strings.HasPrefix(path, "os/") {
				t.Errorf("%s imports %s", p.name(), path)
			}
		}
		if slices.Contains(p.Deps, "net/http") {
			t.Errorf("%s depends on net/http", p.name())
		}
	}
}

// The parsers of shells and JavaScript are large, and for what reads commands only.
func TestParsersAreLinkedByCommandOnly(t *testing.T) {
	parsers := []string{"mvdan.cc/sh/v3", "github.com/tdewolff/parse/v2"}
	links := func(p listed, module string) bool {
		return slices.ContainsFunc(p.Deps, func(path string) bool { return path == module || strings.HasPrefix(path, module+"/") })
	}
	free := []string{"scanner", "scanner/inject", "scanner/redact", "audit", "caddymodule/redact"}
	for _, p := range repository(t) {
		switch {
		case slices.Contains(free, p.name()):
			free = slices.DeleteFunc(free, func(name string) bool { return name == p.name() })
			for _, module := range parsers {
				if links(p, module) {
					t.Errorf("%s links %s", p.name(), module)
				}
			}
		case p.name() == "scanner/command":
			for _, module := range parsers {
				if !links(p, module) {
					t.Errorf("%s does not link %s: does this test still name the parsers?", p.name(), module)
				}
			}
		}
	}
	if len(free) > 0 {
		t.Errorf("there is no package %v", free)
	}
}

// The helper starts within a millisecond or two, and makes what keeps programs in: it links little.
func TestHelperLinksLittle(t *testing.T) {
	allowed := []string{module + "/cmd/svc-sandbox", module + "/agents/sandbox/wire", "golang.org/x/sys/unix", "golang.org/x/net/bpf"}
	for _, p := range repository(t) {
		if p.name() != "cmd/svc-sandbox" {
			continue
		}
		for _, path := range p.Deps {
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") && !slices.Contains(allowed, path) || path == "net/http" {
				t.Errorf("links %s", path)
			}
		}
		return
	}
	t.Error("there is no helper")
}

// A stage goes into any Caddy: without our runtime, and without a C compiler.
func TestStagesLinkNeitherRuntimeNorCgo(t *testing.T) {
	for _, name := range []string{"app", "auth", "scan", "redact", "stream"} {
		t.Run(name, func(t *testing.T) {
			deps, err := goList("-deps", "-json=ImportPath,Standard,CgoFiles", "./caddymodule/"+name)
			if err != nil {
				t.Fatal(err)
			}
			if len(deps) < 100 {
				t.Fatalf("got only %d dependencies", len(deps))
			}
			for _, p := range deps {
				if name, ok := ours(p.ImportPath); ok && (in(name, "agents/...") || in(name, "caddymodule/agents/...")) {
					t.Errorf("links %s", name)
				}
				if len(p.CgoFiles) > 0 && !p.Standard {
					t.Errorf("links %s, which needs cgo", p.ImportPath)
				}
			}
		})
	}
}

// The database's C++ is in the helper only: nothing else links it, tests included.
func TestDuckDBIsLinkedByItsHelperOnly(t *testing.T) {
	linked := false
	for _, p := range repository(t) {
		links := slices.ContainsFunc(p.Deps, func(path string) bool { return strings.HasPrefix(path, "github.com/duckdb/") })
		switch {
		case p.name() == "cmd/svc-duck":
			linked = links
		case links:
			t.Errorf("%s links DuckDB", p.name())
		}
	}
	if !linked {
		t.Error("cmd/svc-duck does not link DuckDB: does this test still name its module?")
	}
}

// Whoever can run a stage with users can manage them, and read what is recorded, with the same program.
func TestStagesWithUsersLinkTheCommands(t *testing.T) {
	with := 0
	for _, p := range repository(t) {
		if !in(p.name(), "caddymodule/...") || in(p.name(), "caddymodule/app/...") || slices.Contains(testHelpers, p.name()) ||
			!slices.Contains(p.Imports, module+"/caddymodule/app") {
			continue
		}
		with++
		if !slices.Contains(p.Imports, module+"/caddymodule/app/commands") {
			t.Errorf("%s imports caddymodule/app and not caddymodule/app/commands", p.name())
		}
	}
	if with < 4 {
		t.Errorf("got %d stages with users, want at least auth, scan, stream and agents", with)
	}
}
