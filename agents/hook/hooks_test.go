package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/agents/hook"
	"github.com/svc-gateway/svc/scanner/redact"
)

const patience = 20 * time.Second

// fixture is hooks on a file in a folder of the test's own.
type fixture struct {
	*hook.Hooks
	t    *testing.T
	dir  string
	logs *observer.ObservedLogs
}

type entry struct {
	Event   string `json:"event"`
	Command string `json:"command"`
}

func document(entries ...entry) string {
	b, err := json.Marshal(map[string]any{"hooks": append([]entry{}, entries...)})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// open starts hooks; the commands have the test's folder as $PWD.
func open(t *testing.T, c hook.Config, entries ...entry) *fixture {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	f := &fixture{t: t, dir: t.TempDir(), logs: logs}
	if err := os.Chmod(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f.write(document(entries...))
	c.Path, c.Log = f.path("hooks.json"), zap.New(core)
	f.Hooks = hook.Open(c)
	t.Cleanup(func() { f.close() })
	return f
}

func (f *fixture) path(name string) string { return filepath.Join(f.dir, name) }

func (f *fixture) write(text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path("hooks.json"), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// close waits until every event has had its commands.
func (f *fixture) close() { f.Close(context.Background()) }

// read waits for a file that a command writes and then renames, or ends with "end".
func (f *fixture) read(name string) string {
	f.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		text, err := os.ReadFile(f.path(name))
		if err == nil && strings.HasSuffix(string(text), "\n") {
			return strings.TrimSpace(string(text))
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("%s: got %q, %v; the log has %v", name, text, err, f.logs.All())
		}
	}
}

// warning waits for a message in the log, and returns its fields.
func (f *fixture) warning(message string) map[string]any {
	f.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		for _, e := range f.logs.FilterLevelExact(zapcore.WarnLevel).All() {
			if strings.Contains(e.Message, message) {
				return e.ContextMap()
			}
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("no warning %q, got %v", message, f.logs.All())
		}
	}
}

func (f *fixture) warnings() (all []string) {
	for _, e := range f.logs.FilterLevelExact(zapcore.WarnLevel).All() {
		text := e.Message
		if err, ok := e.ContextMap()["error"]; ok {
			text += ": " + err.(string)
		}
		all = append(all, text)
	}
	return all
}

func TestCommandsGetTheVariablesOfTheirEventAndNoOthers(t *testing.T) {
	t.Setenv("HOME", "/home/of")
	t.Setenv("SVC_MODEL_API_KEY", "not to be seen")
	for _, tc := range []struct {
		event string
		fire  func(h *hook.Hooks)
		want  []string
	}{
		{hook.SessionStart, func(h *hook.Hooks) { h.SessionStart("core", "demo", "ada") }, []string{
			"SVC_HOOK_AGENT_ID=core", "SVC_HOOK_MODEL=demo", "SVC_HOOK_USER=ada",
		}},
		{hook.SessionEnd, func(h *hook.Hooks) { h.SessionEnd("core") }, []string{"SVC_HOOK_AGENT_ID=core"}},
		{hook.ToolCall, func(h *hook.Hooks) { h.ToolCall("read_file", "success", 1999*time.Microsecond) }, []string{
			"SVC_HOOK_DURATION_MS=1", "SVC_HOOK_STATUS=success", "SVC_HOOK_TOOL=read_file",
		}},
		{hook.HITLRequested, func(h *hook.Hooks) {
			h.Requested(hook.Approval{Approval: "a1", Tool: "run_command", Agent: "core", User: "ada"})
		}, []string{
			`SVC_HOOK_EVENT={"approval":"a1","tool":"run_command","agent":"core","user":"ada","decision":"pending"}`,
		}},
		{hook.HITLDecision, func(h *hook.Hooks) {
			h.Decided(hook.Approval{Approval: "a1", Tool: "run_command", Agent: "core", User: "root", Decision: "edited"})
		}, []string{
			`SVC_HOOK_EVENT={"approval":"a1","tool":"run_command","agent":"core","user":"root","decision":"edited"}`,
		}},
	} {
		t.Run(tc.event, func(t *testing.T) {
			f := open(t, hook.Config{}, entry{tc.event, "env | sort > env; cat > stdin"})
			tc.fire(f.Hooks)
			f.close()
			want := append([]string{"HOME=/home/of", "PATH=" + os.Getenv("PATH")}, tc.want...)
			got := slices.DeleteFunc(strings.Split(f.read("env"), "\n"), func(v string) bool {
				name, _, _ := strings.Cut(v, "=")
				return slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name) // the shell's own
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the environment (-want +got):\n%s", diff)
			}
			if in, err := os.ReadFile(f.path("stdin")); err != nil || len(in) > 0 {
				t.Errorf("stdin has %q, %v, want nothing", in, err)
			}
			if len(f.warnings()) > 0 {
				t.Errorf("got warnings %v", f.warnings())
			}
		})
	}
}

func TestHooksOfOneEventAllRun(t *testing.T) {
	f := open(t, hook.Config{}, entry{hook.SessionEnd, "echo 1 > one"}, entry{hook.SessionStart, "echo x > other"}, entry{hook.SessionEnd, "echo 2 > two"})
	f.SessionEnd("core")
	f.close()
	if f.read("one") != "1" || f.read("two") != "2" {
		t.Error("a hook did not run")
	}
	if _, err := os.Stat(f.path("other")); err == nil {
		t.Error("the hook of another event ran")
	}
}

func TestFireRefuses(t *testing.T) {
	f := open(t, hook.Config{})
	many := make([]string, 66)
	for i := range many {
		many[i] = fmt.Sprint("n", i)
	}
	for _, tc := range []struct {
		name, event string
		kv          []string
		want        error
		text        string
	}{
		{"event", "tool.cal", nil, hook.ErrUnknownEvent, "did you mean tool.call?"},
		{"no event", "", nil, hook.ErrUnknownEvent, "session.start, session.end"},
		{"odd", hook.ToolCall, []string{"tool"}, hook.ErrArguments, "1 words are no pairs"},
		{"name", hook.ToolCall, []string{"to ol", "x"}, hook.ErrArguments, `"to ol" is not a name`},
		{"name with =", hook.ToolCall, []string{"x=y", "x"}, hook.ErrArguments, "is not a name"},
		{"empty name", hook.ToolCall, []string{"", "x"}, hook.ErrArguments, "is not a name"},
		{"long name", hook.ToolCall, []string{strings.Repeat("n", 65), "x"}, hook.ErrArguments, "64 at most"},
		{"twice", hook.ToolCall, []string{"tool", "x", "TOOL", "y"}, hook.ErrArguments, "TOOL is given twice"},
		{"too many", hook.ToolCall, many, hook.ErrArguments, "33 pairs, of 32 at most"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, h := range map[string]*hook.Hooks{"hooks": f.Hooks, "nil": nil} {
				err := h.Fire(tc.event, tc.kv...)
				if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
					t.Errorf("%s: got %v, want %q", name, err, tc.text)
				}
			}
		})
	}
}

func TestCustomCodeFiresWithItsContext(t *testing.T) {
	f := open(t, hook.Config{}, entry{hook.SessionStart, `echo "$SVC_HOOK_AGENT_ID $SVC_HOOK_USER $SVC_HOOK_TICKET" > got`})
	ctx := hook.NewContext(t.Context(), f.Hooks)
	if err := hook.Fire(ctx, hook.SessionStart, "agent_id", "core", "user", "ada", "ticket", "T-1"); err != nil {
		t.Fatal(err)
	}
	if got := f.read("got"); got != "core ada T-1" {
		t.Errorf("got %q", got)
	}
	if err := hook.Fire(t.Context(), hook.SessionStart); !errors.Is(err, hook.ErrNoHooks) {
		t.Errorf("got %v, want ErrNoHooks", err)
	}
	if err := hook.Fire(hook.NewContext(t.Context(), nil), hook.SessionStart); err != nil {
		t.Errorf("without hooks: got %v", err)
	}
	f.close()
	if err := hook.Fire(ctx, hook.SessionStart); !errors.Is(err, hook.ErrStopped) {
		t.Errorf("after the end: got %v, want ErrStopped", err)
	}
}

// What a model calls a tool, or a user themselves, is a value, whatever the shell would make of it.
func TestValuesAreNeverWordsOfTheCommand(t *testing.T) {
	for _, value := range []string{
		"$(touch ran)", "`touch ran`", "; touch ran", "x\ntouch ran\n", "' ; touch ran ; '", `" ; touch ran ; "`, "&& touch ran", "| touch ran",
		"${IFS}$(touch ran)", "-n", "() { :; }; touch ran", "$SVC_HOOK_STATUS", "a=b", "*", "~", "x\x00; touch ran", "\xff\xfe", "",
	} {
		t.Run(strconv.Quote(value), func(t *testing.T) {
			f := open(t, hook.Config{}, entry{hook.ToolCall, `printf '%s.\n' "$SVC_HOOK_TOOL" > quoted; printf '%s\n' $SVC_HOOK_TOOL > bare`})
			f.ToolCall(value, "denied", 0)
			f.close()
			want := strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), "\x00", "\uFFFD") + "."
			if got := strings.TrimSuffix(readAll(t, f.path("quoted")), "\n"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if _, err := os.Stat(f.path("ran")); err == nil {
				t.Error("the value was run")
			}
		})
	}
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestValuesAreCutAndRedacted(t *testing.T) {
	f := open(t, hook.Config{}, entry{hook.ToolCall, `printf '%s\n' "$SVC_HOOK_TOOL" > got`})
	f.Redact(redact.NewSecrets().With("opensesame-opensesame"))
	for _, tc := range []struct{ name, value, want string }{
		{"long", strings.Repeat("é", 4000), strings.Repeat("é", 2046) + "…"},
		{"credential", "password hunter2", "password REDACTED"},
		{"known secret", "x opensesame-opensesame x", "x REDACTED x"},
		{"JSON stays JSON", `{"password":"hunter2","tool":"x"}`, `{"password":"REDACTED","tool":"x"}`},
	} {
		if err := f.Fire(hook.ToolCall, "tool", tc.value); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); ; {
			got, _ := os.ReadFile(f.path("got"))
			if strings.TrimSuffix(string(got), "\n") == tc.want {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: got %q, want %q", tc.name, got, tc.want)
			}
		}
	}
}

func TestApprovalsFitAndAreJSON(t *testing.T) {
	for _, word := range []string{"x", "é", "\x01", `"`, "<", "\xff", "password hunter2 "} {
		t.Run(strconv.Quote(word), func(t *testing.T) {
			f := open(t, hook.Config{}, entry{hook.HITLDecision, `printf '%s\n' "$SVC_HOOK_EVENT" > got`})
			long := strings.Repeat(word, 5000)
			f.Decided(hook.Approval{Approval: long, Tool: long, Agent: long, User: long, Decision: "approved"})
			f.close()
			text := strings.TrimSuffix(readAll(t, f.path("got")), "\n")
			var got hook.Approval
			if err := json.Unmarshal([]byte(text), &got); err != nil || len(text) > 4096 || got.Decision != "approved" {
				t.Errorf("got %d bytes, decision %q, %v: %.100q", len(text), got.Decision, err, text)
			}
			if strings.Contains(text, "hunter2") {
				t.Error("a credential reached the command")
			}
		})
	}
}

func TestAFailureIsAWarning(t *testing.T) {
	const killed = "it, or what it started, took too long and was killed"
	for _, tc := range []struct{ name, command, exit, output string }{
		{"exit", "echo out; echo err >&2; exit 7", "exit code 7", "out\nerr\n"},
		{"signal", "kill -TERM $$", "killed by signal: terminated", ""},
		{"no such command", "exec /no/such/command 2>/dev/null", "exit code 127", ""},
		{"credential", "echo password hunter2; exit 1", "exit code 1", "password REDACTED\n"},
		{"much", "head -c 9000000 /dev/zero | tr '\\0' x; exit 1", "exit code 1", strings.Repeat("x", 1021) + "…"},
		{"not UTF-8", "printf '\\377'; exit 1", "exit code 1", "\uFFFD"},
		{"NUL", "printf '\\000'; exit 1", "exit code 1", "\uFFFD"},
		{"too long", "echo begun; exec sleep 1000", killed, "begun\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var c hook.Config
			if tc.exit == killed {
				c.Timeout = 2 * time.Second
			}
			f := open(t, c, entry{hook.SessionStart, "true"}, entry{hook.ToolCall, tc.command})
			f.ToolCall("x", "success", 0)
			got := f.warning("a hook failed")
			delete(got, "took")
			want := map[string]any{"event": "tool.call", "hook": int64(1), "exit": tc.exit, "output": tc.output}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// alive reports whether there is a process with a number that is no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fields[0] != "Z"
}

func TestACommandIsKilledWithAllThatItStarted(t *testing.T) {
	const loop = `echo $$ > pid; trap "" TERM HUP; while :; do sleep 1000; done`
	for _, tc := range []struct{ name, command string }{
		{"itself", loop},
		{"in the background", "sh -c '" + loop + "' & "},
		{"a session of its own", "setsid sh -c '" + loop + "' &"},
		{"without its output", "setsid sh -c '" + loop + "' >/dev/null 2>&1 </dev/null & exit 0"},
		{"twice over", "setsid sh -c 'setsid sh -c \"echo \\$\\$ > pid; exec sleep 1000\" > /dev/null 2>&1 & exit' & wait; exit 0"},
		{"with other descriptors", "exec 3>&1 4>x 9>y; setsid sh -c '" + loop + "' >&9 2>&9 &"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := open(t, hook.Config{Timeout: 4 * time.Second}, entry{hook.SessionEnd, tc.command})
			f.SessionEnd("core")
			pid, err := strconv.Atoi(f.read("pid"))
			if err != nil {
				t.Fatal(err)
			}
			f.warning("a hook failed")
			if alive(pid) {
				t.Error("it is still there")
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
}

// What a command starts in the background may take as long as the command itself.
func TestWhatACommandStartsMayFinish(t *testing.T) {
	f := open(t, hook.Config{}, entry{hook.SessionEnd, "mkfifo go; (read x < go; echo $x > done) &"})
	f.SessionEnd("core")
	for deadline := time.Now().Add(patience); ; {
		if pipe, err := os.OpenFile(f.path("go"), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			fmt.Fprintln(pipe, "yes")
			pipe.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command did not begin")
		}
	}
	if got := f.read("done"); got != "yes" {
		t.Errorf("got %q", got)
	}
	f.close()
	if len(f.warnings()) > 0 {
		t.Errorf("got warnings %v", f.warnings())
	}
}
