package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
)

// maxProgram is how long a program may be: it is one argument of its interpreter, of which the kernel
// takes 128 KiB.
const maxProgram = 100 << 10

// codeOutput is how much of each output of a program is kept, so that a result has room for both.
const codeOutput = 24 << 10

// maxListed is how many of a program's files are listed.
const maxListed = 200

// endTime is how long after the program's own time its call may take: for the wait for a sandbox, and
// for its end.
const endTime = 10 * time.Second

// Snapshots are immutable copies of the analytical database.
type Snapshots interface {
	// Snapshot returns the path of one, which stays until release is called.
	Snapshot(ctx context.Context) (file string, release func(), err error)
	// Helper is the path of svc-duck, which reads it.
	Helper() string
}

// snapshotTime is how long a program waits for a snapshot, if it may not need one.
const snapshotTime = 3 * time.Second

// CodeConfig is what the tool run_code works with.
type CodeConfig struct {
	Box       Sandbox       // nil: none
	Log       *audit.Log    // of connections
	Timeout   time.Duration // how long a program runs at most, which is also the most that a call can ask for
	Database  Snapshots     // nil: none
	Languages []Language    // beside bash, python3 and sql
}

// RunCode returns the tool run_code {language, code, timeout}: a program, run in a sandbox with a new
// workspace. Its result is JSON, see [codeResult]. A program that sends requests or statements that
// write, as far as [command.ScanCode] sees, is not run. It can read a snapshot of the analytical
// database, and not change it.
func RunCode(config CodeConfig) agents.Tool {
	c := coder{config, newLanguages(config.Languages)}
	names, err := json.Marshal(c.languages.names())
	if err != nil {
		panic(err) // they are strings
	}
	return agents.NewTool(agents.ToolDef{
		Name: "run_code",
		Description: "Run a program in a sandbox and return a JSON object: exit, signal, timed_out, truncated, oom, stdout, stderr, duration_ms, files, where, degraded. " +
			"It starts in an empty folder of its own, which goes when it ends, and sees neither the project nor the host's files: print what is wanted. " +
			"It can fetch from public servers, with GET, where the settings allow a network. Programs that send other requests, or change a database, are refused. " +
			"The analytical database is the DuckDB file named by the environment variable SVC_DATABASE, which is read-only; " +
			"the command svc-duck sql 'SELECT …' prints its answer as JSON, with columns and rows. In the language sql, the code is that statement.",
		Parameters: fmt.Appendf(nil, `{"type":"object","properties":{"language":{"type":"string","enum":%s},`+
			`"code":{"type":"string","description":"The whole program"},`+
			`"timeout":{"type":"number","exclusiveMinimum":0,"description":"Seconds after which it is stopped, default and most %g"}},"required":["language","code"],"additionalProperties":false}`, names, c.Timeout.Seconds()),
		Action:   policy.Mutate,
		Classify: c.classify,
		Timeout:  c.Timeout + endTime,
	}, c.run)
}

// classify refuses programs that write to servers and databases, before anything is run.
func (c coder) classify(args map[string]any) agents.Classification {
	class := agents.Classification{Action: policy.Mutate, Where: "in a sandbox with a workspace of its own"}
	name, _ := args["language"].(string)
	code, _ := args["code"].(string)
	l, err := c.languages.find(name)
	if err != nil {
		return class // refused later, by name
	}
	class.Findings = command.ScanCode(code, l.scan)
	if len(class.Findings) > 0 {
		class.Refused = "code_writes: " + told(code, class.Findings)
	}
	return class
}

const maxTold = 10 // findings that are told of

// told says what was found in a program, and where.
func told(code string, found []scanner.Finding) string {
	what := map[scanner.Category]string{scanner.HTTPWrite: "sends a request that changes something", scanner.DatabaseWrite: "changes a database"}
	var all []string
	for _, f := range found[:min(len(found), maxTold)] {
		line := 1 + strings.Count(code[:f.Start], "\n")
		column := 1 + utf8.RuneCountInString(code[1+strings.LastIndexByte(code[:f.Start], '\n'):f.Start])
		all = append(all, fmt.Sprintf("line %d, column %d %s (%s): %s", line, column, what[f.Category], f.Rule, f.Excerpt))
	}
	if more := len(found) - maxTold; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return "the program was not run, because generated code may not write to servers or databases: " + strings.Join(all, "; ")
}

type coder struct {
	CodeConfig

	languages languages
}

// codeResult is the result of the tool.
type codeResult struct {
	sandbox.Result
	Error    *codeError `json:"error,omitempty"`          // why the program was stopped
	Database string     `json:"database_error,omitempty"` // why the program saw no database
}

// codeError is why a program was stopped, for programs that read it.
type codeError struct {
	Code      string `json:"code"` // timeout
	Message   string `json:"message"`
	TimeoutMS int64  `json:"timeout_ms"`
}

var errNoDatabase = errors.New("there is none here")

// errCodeTimeout makes the call one that timed out.
var errCodeTimeout = fmt.Errorf("the program was stopped when its time was over: %w", context.DeadlineExceeded)

func (c coder) run(ctx context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
	err := known(args, "language", "code", "timeout")
	name, err1 := textArg(args, "language")
	code, err2 := textArg(args, "code")
	timeout, err3 := c.timeoutArg(args)
	if err := errors.Join(err, err1, err2, err3); err != nil {
		return agents.Result{}, err
	}
	l, err := c.languages.find(name)
	switch {
	case err != nil:
		return agents.Result{}, err
	case len(code) > maxProgram:
		return agents.Result{}, fmt.Errorf("the program has %d bytes, more than the %d that one may have", len(code), maxProgram)
	case c.Box == nil:
		return agents.Result{}, errNoSandbox
	}
	if found := command.ScanCode(code, l.scan); len(found) > 0 { // the gate has refused it already
		return agents.Result{}, errors.New(told(code, found))
	}
	out := egress{log: c.Log, call: tc, tool: "run_code"}
	spec := l.spec(code)
	spec.Timeout, spec.Collect, spec.Limits, spec.OnEgress = timeout, true, sandbox.Limits{Output: codeOutput}, out.add
	if !l.database { // whose programs are of this host, as their reader is
		spec.Agent = tc.Agent
	}
	release, noDatabase := c.database(ctx, &spec, l.database)
	if noDatabase != nil && l.database {
		return agents.Result{}, fmt.Errorf("programs in %s need the analytical database: %w", name, noDatabase)
	}
	defer release()
	r, err := c.Box.Run(ctx, spec)
	if err := errors.Join(err, out.end(ctx)); err != nil {
		return agents.Result{}, err
	}
	r.Files = slices.DeleteFunc(r.Files, func(f sandbox.File) bool { return f.Path == l.file })
	result := codeResult{Result: r}
	if noDatabase != nil {
		result.Database = noDatabase.Error()
	}
	if r.TimedOut {
		result.Error = &codeError{"timeout", fmt.Sprintf("the program was stopped after %s, with all its processes", timeout), timeout.Milliseconds()}
	}
	if more := len(r.Files) - maxListed; more > 0 {
		result.Files, result.Left = r.Files[:maxListed], append(r.Left, fmt.Sprintf("%d more files", more))
	}
	var text strings.Builder
	w := json.NewEncoder(&text)
	w.SetEscapeHTML(false)
	if err := w.Encode(result); err != nil {
		return agents.Result{}, fmt.Errorf("writing the result: %w", err)
	}
	res := agents.Result{Text: text.String(), Truncated: r.Truncated}
	if r.TimedOut {
		return res, errCodeTimeout
	}
	return res, nil
}

// database shows a program a snapshot, which stays until release is called. A program that may not need it
// does not wait long for one, and gets none where there is no helper.
func (c coder) database(ctx context.Context, s *sandbox.Spec, needed bool) (release func(), err error) {
	release = func() {}
	switch {
	case needed && c.Database == nil:
		return release, errNoDatabase
	case c.Database == nil, !needed && c.Database.Helper() == "":
		return release, nil
	}
	if !needed {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, snapshotTime)
		defer cancel()
	}
	file, done, err := c.Database.Snapshot(ctx)
	if err != nil {
		return release, err
	}
	s.Database = &sandbox.Database{File: file, Reader: c.Database.Helper()}
	return done, nil
}

// timeoutArg is how long the program may run.
func (c coder) timeoutArg(args map[string]any) (time.Duration, error) {
	var seconds float64
	switch v := args["timeout"].(type) {
	case nil:
		return c.Timeout, nil
	case float64:
		seconds = v
	case json.Number:
		var err error
		if seconds, err = v.Float64(); err != nil {
			seconds = 0
		}
	}
	if !(seconds > 0) || seconds > c.Timeout.Seconds() { // also what is no number
		return 0, fmt.Errorf("the argument %q must be a number of seconds above 0 and not above %g (runtime.timeout)", "timeout", c.Timeout.Seconds())
	}
	return max(time.Millisecond, time.Duration(seconds*float64(time.Second))), nil
}
