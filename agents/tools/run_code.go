package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// language is how programs are run and read.
type language struct {
	args []string // before the program
	scan command.Language
}

var languages = map[string]language{
	"bash":    {[]string{"bash", "-c"}, command.Shell},
	"python3": {[]string{"python3", "-c"}, command.Python},
}

// RunCode returns the tool run_code {language, code, timeout}: a program, run in a sandbox with a new
// workspace. Its result is JSON, see [codeResult]. A program that sends requests or statements that
// write, as far as [command.ScanCode] sees, is not run. A program runs for timeout at most, which is
// also the most that a call can ask for. Its connections are recorded in log.
func RunCode(box Sandbox, log *audit.Log, timeout time.Duration) agents.Tool {
	c := coder{box, log, timeout}
	return agents.NewTool(agents.ToolDef{
		Name: "run_code",
		Description: "Run a program in a sandbox and return a JSON object: exit, signal, timed_out, truncated, oom, stdout, stderr, duration_ms, files, where, degraded. " +
			"It starts in an empty folder of its own, which goes when it ends, and sees neither the project nor the host's files: print what is wanted. " +
			"It can fetch from public servers, with GET, where the settings allow a network. Programs that send other requests, or change a database, are refused.",
		Parameters: fmt.Appendf(nil, `{"type":"object","properties":{"language":{"type":"string","enum":["bash","python3"]},`+
			`"code":{"type":"string","description":"The whole program"},`+
			`"timeout":{"type":"number","exclusiveMinimum":0,"description":"Seconds after which it is stopped, default and most %g"}},"required":["language","code"],"additionalProperties":false}`, timeout.Seconds()),
		Action:   policy.Mutate,
		Classify: classifyCode,
		Timeout:  timeout + endTime,
	}, c.run)
}

// classifyCode refuses programs that write to servers and databases, before anything is run.
func classifyCode(args map[string]any) agents.Classification {
	class := agents.Classification{Action: policy.Mutate, Where: "in a sandbox with a workspace of its own"}
	name, _ := args["language"].(string)
	code, _ := args["code"].(string)
	l, ok := languages[name]
	if !ok {
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
	box     Sandbox // nil: none
	log     *audit.Log
	timeout time.Duration
}

// codeResult is the result of the tool.
type codeResult struct {
	sandbox.Result
	Error *codeError `json:"error,omitempty"` // why the program was stopped
}

// codeError is why a program was stopped, for programs that read it.
type codeError struct {
	Code      string `json:"code"` // timeout
	Message   string `json:"message"`
	TimeoutMS int64  `json:"timeout_ms"`
}

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
	l, ok := languages[name]
	switch {
	case !ok:
		return agents.Result{}, fmt.Errorf("the language %q is unknown: use bash or python3", name)
	case len(code) > maxProgram:
		return agents.Result{}, fmt.Errorf("the program has %d bytes, more than the %d that one may have", len(code), maxProgram)
	case c.box == nil:
		return agents.Result{}, errNoSandbox
	}
	if found := command.ScanCode(code, l.scan); len(found) > 0 { // the gate has refused it already
		return agents.Result{}, errors.New(told(code, found))
	}
	out := egress{log: c.log, call: tc}
	r, err := c.box.Run(ctx, sandbox.Spec{
		Args: append(l.args[:len(l.args):len(l.args)], code), Timeout: timeout, Collect: true,
		Limits: sandbox.Limits{Output: codeOutput}, OnEgress: out.add, Agent: tc.Agent,
	})
	if err := errors.Join(err, out.end(ctx)); err != nil {
		return agents.Result{}, err
	}
	result := codeResult{Result: r}
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

// timeoutArg is how long the program may run.
func (c coder) timeoutArg(args map[string]any) (time.Duration, error) {
	var seconds float64
	switch v := args["timeout"].(type) {
	case nil:
		return c.timeout, nil
	case float64:
		seconds = v
	case json.Number:
		var err error
		if seconds, err = v.Float64(); err != nil {
			seconds = 0
		}
	}
	if !(seconds > 0) || seconds > c.timeout.Seconds() { // also what is no number
		return 0, fmt.Errorf("the argument %q must be a number of seconds above 0 and not above %g (runtime.timeout)", "timeout", c.timeout.Seconds())
	}
	return max(time.Millisecond, time.Duration(seconds*float64(time.Second))), nil
}
