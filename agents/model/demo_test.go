package model

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var agentTools = map[string][]string{
	"svc-orchestrator": {"delegate"}, "core": {"run_command", "read_file", "write_file", "edit_file", "run_code", "http_get", "http_request", "query_database", "mcp_every_get-sum"}, "audit": {"query_audit"}, "quick": nil,
}

func demoRequest(agent string, messages ...Message) Request {
	r := Request{Agent: agent, Messages: messages}
	for _, t := range agentTools[agent] {
		r.Tools = append(r.Tools, ToolSpec{Name: t})
	}
	return r
}

func user(text string) Message { return Message{Role: RoleUser, Content: text} }

func turn(t *testing.T, r Request) Message {
	t.Helper()
	var pieces strings.Builder
	res, err := NewDemo().Turn(t.Context(), r, func(p string) { pieces.WriteString(p) })
	if err != nil {
		t.Fatal(err)
	}
	if pieces.String() != res.Message.Content {
		t.Errorf("pieces %q differ from the content %q", pieces.String(), res.Message.Content)
	}
	if res.Model != "demo" || !res.Usage.Estimated || res.Usage.TotalTokens <= 0 {
		t.Errorf("response %+v", res)
	}
	return res.Message
}

func TestDemoCalls(t *testing.T) {
	const disks = "How full are the disks on this host?"
	const psCPU = `run_command {"command":"ps -eo pid,user,pcpu,pmem,comm --sort=-pcpu"}`
	const denials = `query_audit {"sql":"SELECT time, user, agent, tool, coalesce(path, '') AS path, reasons, error FROM denials ORDER BY seq DESC LIMIT 10"}`
	tests := []struct {
		agent, question string
		want            []string
	}{
		{"core", disks, []string{`run_command {"command":"df -h"}`}},
		{"core", "is there enough free space left?", []string{`run_command {"command":"df -h"}`}},
		{"core", "and the memory?", []string{`run_command {"command":"free -m"}`}},
		{"core", "disks and memory please", []string{`run_command {"command":"df -h"}`, `run_command {"command":"free -m"}`}},
		{"core", "which processes are running", []string{psCPU}},
		{"core", "Which processes use the most memory?", []string{`run_command {"command":"ps -eo pid,user,pcpu,pmem,comm --sort=-pmem"}`}},
		{"core", "uptime", []string{`run_command {"command":"uptime"}`}},
		{"core", "How long has it been up?", []string{`run_command {"command":"uptime"}`}},
		{"core", "What IP addresses do you have?", []string{`run_command {"command":"ip -br addr"}`}},
		{"core", "Which ports are open?", []string{`run_command {"command":"ss -tuln"}`}},
		{"core", "Which kernel is this, and how many cores?", []string{`run_command {"command":"uname -snrm"}`, `run_command {"command":"nproc"}`}},
		{"core", "What time is it?", []string{`run_command {"command":"date"}`}},
		{"core", "list the files", []string{`run_command {"command":"ls -la"}`}},
		{"core", "List the files in docs", []string{`run_command {"command":"ls -la 'docs'"}`}},
		{"core", "which files are in the folder Docs/api?", []string{`run_command {"command":"ls -la 'Docs/api'"}`}},
		{"core", "show README.md", []string{`read_file {"path":"README.md"}`}},
		{"core", "read the file Makefile", []string{`read_file {"path":"Makefile"}`}},
		{"core", "show `my notes.txt`.", []string{`read_file {"path":"my notes.txt"}`}},
		{"core", "run rm -rf /", []string{`run_command {"command":"rm -rf /"}`}},
		{"core", "run python: print(6*7)", []string{`run_code {"language":"python3","code":"print(6*7)"}`}},
		{"core", "run sql: select 1", []string{`run_code {"language":"sql","code":"select 1"}`}},
		{"core", "run node code: console.log(1)", []string{`run_code {"language":"node","code":"console.log(1)"}`}},
		{"core", "Run bash:\n```bash\necho a\necho b\n```", []string{`run_code {"language":"bash","code":"echo a\necho b"}`}},
		{"core", `write "hello there" to docs/a.txt`, []string{`write_file {"path":"docs/a.txt","content":"hello there\n"}`}},
		{"core", "Replace 'a b' with 'c' in the file x.", []string{`edit_file {"path":"x","old":"a b","new":"c"}`}},
		{"core", "fetch https://example.org/a?b=c.", []string{`http_get {"url":"https://example.org/a?b=c"}`}},
		{"core", `post '{"a": 1}' to https://example.org/items`, []string{`http_request {"body":"{\"a\": 1}","method":"POST","url":"https://example.org/items"}`}},
		{"core", "please put `a: it's` as text/yaml to <https://example.org/a.b>.", []string{`http_request {"body":"a: it's","headers":{"Content-Type":"text/yaml"},"method":"PUT","url":"https://example.org/a.b"}`}},
		{"core", "delete https://example.org/items/1.", []string{`http_request {"method":"DELETE","url":"https://example.org/items/1"}`}},
		{"core", "Request https://example.org/items?a=b", []string{`http_request {"method":"GET","url":"https://example.org/items?a=b"}`}},
		{"core", "head https://example.org", []string{`http_request {"method":"HEAD","url":"https://example.org"}`}},
		{"core", "Please get <https://example.org>", []string{`http_get {"url":"https://example.org"}`}},
		{"core", "get the page http://127.0.0.1:8080/status?", []string{`http_get {"url":"http://127.0.0.1:8080/status"}`}},
		{"core", `use get-sum of every with {"a":1,"b":2}`, []string{`mcp_every_get-sum {"a":1,"b":2}`}},
		{"svc-orchestrator", "Please use the tool echo from the server every", []string{`delegate {"agent":"core","task":"Please use the tool echo from the server every"}`}},
		{"core", "fetch `https://a@evil.example/x y` for me", []string{`http_get {"url":"https://a@evil.example/x y"}`}},
		{"core", "run python -V", []string{`run_command {"command":"python -V"}`}},
		{"core", "Run `df -i \"/\"`", []string{`run_command {"command":"df -i \"/\""}`}},
		{"core", disks + " And what was denied?", []string{`run_command {"command":"df -h"}`}},
		{"core", "how many rows in table Sales?", []string{`query_database {"sql":"SELECT count(*) AS rows FROM \"Sales\""}`}},
		{"core", "How many rows are in the sales table?", []string{`query_database {"sql":"SELECT count(*) AS rows FROM \"sales\""}`}},
		{"core", "which tables are there?", []string{`query_database {"sql":"SHOW TABLES"}`}},
		{"core", "sql: SELECT 1", []string{`query_database {"sql":"SELECT 1"}`}},
		{"svc-orchestrator", "SQL: SELECT 1", []string{`delegate {"agent":"core","task":"SQL: SELECT 1"}`}},
		{"audit", "What was denied?", []string{denials}},
		{"audit", disks + " And what was denied?", []string{denials}},
		{"audit", "the last tool calls", []string{`query_audit {"sql":"SELECT time, user, agent, tool, input, status, duration_ms FROM tool_calls ORDER BY time DESC LIMIT 10"}`}},
		{"audit", "How many tool calls were there?", []string{`query_audit {"sql":"SELECT tool, status, count(*) AS calls FROM tool_calls GROUP BY tool, status ORDER BY calls DESC, tool, status"}`}},
		{"audit", "SELECT 1", []string{`query_audit {"sql":"SELECT 1"}`}},
		{"svc-orchestrator", disks, []string{`delegate {"agent":"core","task":"How full are the disks on this host?"}`}},
		{"svc-orchestrator", "disks, memory and uptime", []string{`delegate {"agent":"core","task":"disks, memory and uptime"}`}},
		{"svc-orchestrator", "disks and denials", []string{`delegate {"agent":"core","task":"disks and denials"}`, `delegate {"agent":"audit","task":"disks and denials"}`}},
		{"svc-orchestrator", "run shutdown now", []string{`delegate {"agent":"core","task":"run shutdown now"}`}},
		{"svc-orchestrator", "who logged in?", []string{`delegate {"agent":"audit","task":"who logged in?"}`}},
	}
	for _, tt := range tests {
		m := turn(t, demoRequest(tt.agent, user("before"), Message{Role: RoleAssistant, Content: "yes"}, user(tt.question)))
		var got []string
		ids := map[string]bool{}
		for _, c := range m.ToolCalls {
			got = append(got, c.Name+" "+c.Arguments)
			if !json.Valid([]byte(c.Arguments)) || ids[c.ID] {
				t.Errorf("%s: call %+v", tt.question, c)
			}
			ids[c.ID] = true
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || m.Content != "" {
			t.Errorf("%s: %s (-want +got):\n%s%s", tt.agent, tt.question, diff, m.Content)
		}
	}
}

func TestDemoSpeaksForItself(t *testing.T) {
	for _, tt := range []struct{ agent, question, says string }{
		{"svc-orchestrator", "Tell me about yourself", "I am the demo model that is built into this service"},
		{"quick", "Who are you?", "not a language model"},
		{"core", "hello", "I am the demo model"},
		{"svc-orchestrator", "Write me a poem", "did not understand"},
		{"svc-orchestrator", "", "did not understand"},
		{"quick", "How full are the disks?", "needs the tool run_command, which the agent quick does not have; the agent core has it"},
		{"core", "What was denied?", "needs the tool query_audit"},
	} {
		m := turn(t, demoRequest(tt.agent, user(tt.question)))
		if !strings.Contains(m.Content, tt.says) || !strings.Contains(m.Content, "demo model") || len(m.ToolCalls) > 0 {
			t.Errorf("%s: %s: got %+v, want %q", tt.agent, tt.question, m, tt.says)
		}
	}
	if m := turn(t, demoRequest("core")); !strings.Contains(m.Content, "demo model") {
		t.Errorf("without messages: %+v", m)
	}
}

const dfOut = `Filesystem      Size  Used Avail Use% Mounted on
devtmpfs         12G     0   12G   0% /dev
tmpfs            24G     0   24G   0% /dev/shm
/dev/vda        252G   16G   76G  18% /
/dev/vdb        100G   93G  7.0G  93% /var/my data
`

func TestDemoAnswers(t *testing.T) {
	note := demoNote
	tests := []struct{ agent, question, out, want string }{
		{"core", "disks", dfOut, "This host has 2 disk filesystems. The fullest is /var/my data (/dev/vdb): 93% used, 93G of 100G, 7.0G available. The others:\n- / (/dev/vda): 18% used, 16G of 252G, 76G available\nThe fullest one needs attention: less than a tenth of it is left."},
		{"core", "disks", "Filesystem Size Used Avail Use% Mounted on\noverlay 252G 16G 76G 18% /\n[exit code 1]\n", "This host has one disk filesystem, / (overlay): 18% used, 16G of 252G, 76G available."},
		{"core", "disks", "df: nothing\n[exit code 1]\n", "The output is:\n```\ndf: nothing\n[exit code 1]\n```"},
		{"core", "memory", "      total used free shared buff/cache available\nMem:  24105  431 22513 8 1470 23674\nSwap: 0 0 0\n", "Of 23.5 GiB of memory, 431 MiB (1%) are used and 23.1 GiB are available. There is no swap."},
		{"core", "memory", "      total used free shared buff/cache available\nMem:  1000  431 22513 8 1470 500\nSwap: 2048 512 1536\n", "Of 1000 MiB of memory, 431 MiB (43%) are used and 500 MiB are available. Of 2048 MiB of swap, 512 MiB (25%) are used."},
		{"core", "processes", "PID USER %CPU %MEM COMMAND\n1 root 0.3 0.0 init\n77 bob 0.2 1.5 my prog\n", "2 processes are running. Those that use the most CPU:\n- init (process 1 of root): 0.3% CPU, 0.0% memory\n- my prog (process 77 of bob): 0.2% CPU, 1.5% memory"},
		{"core", "uptime", " 11:16:00 up 33 min,  0 user,  load average: 0.31, 0.45, 0.41\n", "This host has been up for 33 min. Its load average is 0.31, 0.45 and 0.41 over the last 1, 5 and 15 minutes."},
		{"core", "uptime", " 10:00:00 up 3 days,  2:05,  2 users,  load average: 0.00, 0.01, 0.05\n", "This host has been up for 3 days, 2 h 5 min. Its load average is 0.00, 0.01 and 0.05 over the last 1, 5 and 15 minutes."},
		{"core", "addresses", "lo UNKNOWN 127.0.0.1/8 ::1/128 \nifb0 DOWN \neth0 UP 192.0.2.2/24\n", "2 interfaces have addresses:\n- lo (UNKNOWN): 127.0.0.1/8, ::1/128\n- eth0 (UP): 192.0.2.2/24\nWithout an address: ifb0."},
		{"core", "listening ports", "Netid State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\ntcp LISTEN 0 128 0.0.0.0:2024 0.0.0.0:*\nudp UNCONN 0 0 127.0.0.1:53 0.0.0.0:*\n", "2 addresses are listening (* and 0.0.0.0 mean every interface):\n- tcp 0.0.0.0:2024\n- udp 127.0.0.1:53"},
		{"core", "listening ports", "Netid State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n", "No TCP or UDP port is listening."},
		{"core", "kernel", "Linux box 6.1.0 x86_64\n", "The host box runs Linux 6.1.0 on x86_64."},
		{"core", "how many processors", "2\n", "This host has 2 processors."},
		{"core", "the date", "Sat Nov 21 11:16:00 UTC 2026\n", "On this host it is Sat Nov 21 11:16:00 UTC 2026."},
		{"core", "list the files in docs", "total 4\ndrwxr-xr-x 2 a a 4096 Jan 1 00:00 .\ndrwxr-xr-x 2 a a 4096 Jan 1 00:00 ..\n-rw-r--r-- 1 a a 5 Jan 1 00:00 a.md\n", "`docs` has 1 entry:\n```\ntotal 4\ndrwxr-xr-x 2 a a 4096 Jan 1 00:00 .\ndrwxr-xr-x 2 a a 4096 Jan 1 00:00 ..\n-rw-r--r-- 1 a a 5 Jan 1 00:00 a.md\n```"},
		{"core", "show a.md", "# Hi\n", "`a.md` contains:\n```\n# Hi\n```"},
		{"core", "run df -i", "x\n", "The output is:\n```\nx\n```"},
		{"core", "run df -i", "", "There was no output."},
		{"audit", "what was denied", "time | user | agent | tool | path | reasons | error\n2026-11-21T10:00:00.000Z | ada | core | run_command |  | [\"no\",\"not \\\"ever\\\"\"] | \n2026-11-21T09:00:00.000Z |  |  |  | /threads |  | no token\n(2 rows)\n", "The last denials, newest first:\n- 2026-11-21T10:00:00.000Z: run_command by core for ada (no; not \"ever\")\n- 2026-11-21T09:00:00.000Z: the request /threads (no token)"},
		{"audit", "what was denied", "time | user | agent | tool | path | reasons | error\n(0 rows)\n", "Nothing that you may see was denied."},
		{"audit", "last tool calls", "time | user | agent | tool | input | status | duration_ms\nT | ada | core | run_command | {\"command\":\"df -h\"} | success | 3.5\n(1 row)\n", "The last tool calls, newest first:\n- T: run_command by core for ada {\"command\":\"df -h\"}: success in 3.5 ms"},
		{"audit", "how many calls", "tool | status | calls\nrun_command | success | 12\n(1 row)\n", "Tool calls by tool and outcome:\n- run_command, success: 12"},
		{"audit", "how many tokens", "model | turns | tokens\ndemo | 3 | 120\n(1 row)\n", "Tokens by model:\n- demo: 120 tokens in 3 turns"},
		{"audit", "logins", "time | user | type | address | error\nT | ada | login.failed | ::1 | wrong token\n(1 row)\n", "The last logins, newest first:\n- T: ada failed to log in from ::1 (wrong token)"},
		{"core", "how many rows in table sales", "{\"columns\":[{\"name\":\"rows\",\"type\":\"BIGINT\"}],\n\"rows\":[\n[1000000]\n],\"row_count\":1}", "The table sales has 1000000 rows."},
		{"core", "which tables are there", "{\"columns\":[{\"name\":\"name\",\"type\":\"VARCHAR\"}],\n\"rows\":[\n[\"a\"],\n[\"b\"]\n],\"row_count\":2}", "The tables are: a, b."},
		{"core", "which tables are there", "{\"columns\":[],\n\"rows\":[\n],\"row_count\":0}", "There are no tables: nothing was imported yet."},
		{"core", "sql: SHOW x", "{}", "The output is:\n```\n{}\n```"},
		{"audit", "what was denied", "something else", "The output is:\n```\nsomething else\n```"},
	}
	for _, tt := range tests {
		m := []Message{user(tt.question)}
		m = append(m, turn(t, demoRequest(tt.agent, m...)))
		if len(m[1].ToolCalls) != 1 {
			t.Errorf("%s: calls %+v", tt.question, m[1].ToolCalls)
			continue
		}
		m = append(m, Message{Role: RoleTool, ToolCallID: m[1].ToolCalls[0].ID, Name: m[1].ToolCalls[0].Name, Status: "success", Content: tt.out})
		if got := turn(t, demoRequest(tt.agent, m...)); got.Content != tt.want+note || len(got.ToolCalls) > 0 {
			t.Errorf("%s:\n got %q\nwant %q", tt.question, got.Content, tt.want+note)
		}
	}
}

func TestDemoFailures(t *testing.T) {
	for _, tt := range []struct{ question, status, content, want string }{
		{"run rm -rf /", "denied", "denied: rule recursive_deletion: needs an approval", "The command `rm -rf /` was denied: rule recursive_deletion: needs an approval"},
		{"run awk 1", "error", "error: run_command: the command awk is not allowed", "The command `awk 1` failed: the command awk is not allowed"},
		{"show x.txt", "timeout", "timeout: read_file: it did not end", "Reading `x.txt` took too long and was stopped: it did not end"},
		{"run rm -rf /", "rejected", "rejected by root: not today. Approval was needed: it deletes.", "The command `rm -rf /` was rejected by root: not today. Approval was needed: it deletes."},
		{"run rm -rf /", "expired", "expired: nobody approved it in time.", "The command `rm -rf /` was not made: nobody approved it in time."},
		{"uptime", "cancelled", "", "The command `uptime` was cancelled: no reason was given"},
	} {
		m := []Message{user(tt.question)}
		m = append(m, turn(t, demoRequest("core", m...)))
		m = append(m, Message{Role: RoleTool, ToolCallID: m[1].ToolCalls[0].ID, Status: tt.status, Content: tt.content})
		if got := turn(t, demoRequest("core", m...)); got.Content != tt.want+demoNote {
			t.Errorf("%s: got %q, want %q", tt.question, got.Content, tt.want)
		}
	}
}

// The orchestrator passes on what its sub-agents answered, with one note.
func TestDemoOrchestrates(t *testing.T) {
	m := []Message{user("disks and denials")}
	m = append(m, turn(t, demoRequest("svc-orchestrator", m...)))
	m = append(m,
		Message{Role: RoleTool, ToolCallID: m[1].ToolCalls[0].ID, Name: "delegate", Status: "success", Content: "The disk is fine." + demoNote},
		Message{Role: RoleTool, ToolCallID: m[1].ToolCalls[1].ID, Name: "delegate", Status: "denied", Content: "denied: the agent audit is not yours"})
	got := turn(t, demoRequest("svc-orchestrator", m...))
	if want := "The disk is fine.\n\nThe task for the agent audit was denied: the agent audit is not yours" + demoNote; got.Content != want {
		t.Errorf("got %q, want %q", got.Content, want)
	}
	// What a sub-agent said until it was stopped has its note in the middle.
	m[3].Status, m[3].Content = "error", "error: delegate: the agent audit may take 1 step\noutput so far:\nNothing yet."+demoNote
	if got := turn(t, demoRequest("svc-orchestrator", m...)); strings.Count(got.Content, strings.TrimSpace(demoNote)) != 1 {
		t.Errorf("got %q, want the note once", got.Content)
	}
	// In the next turn of the thread only the new question counts.
	m = append(m, got, user("and the memory?"))
	got = turn(t, demoRequest("svc-orchestrator", m...))
	if len(got.ToolCalls) != 1 || got.ToolCalls[0].Arguments != `{"agent":"core","task":"and the memory?"}` || got.ToolCalls[0].ID == m[1].ToolCalls[0].ID {
		t.Errorf("got %+v", got)
	}
}

func TestDemoPlans(t *testing.T) {
	request := func(m ...Message) Request {
		r := demoRequest("svc-orchestrator", m...)
		r.Tools = append(r.Tools, ToolSpec{Name: "write_todos"})
		return r
	}
	m := []Message{user("plan: how full are the disks?; ask config to show app.conf")}
	var plans, tasks []string
	for range 3 {
		turn := turn(t, request(m...))
		m = append(m, turn)
		for _, c := range turn.ToolCalls {
			result := Message{Role: RoleTool, ToolCallID: c.ID, Name: c.Name, Status: "success", Content: "fine" + demoNote}
			if c.Name == "write_todos" {
				plans = append(plans, c.Arguments)
			} else {
				tasks = append(tasks, c.Arguments)
			}
			m = append(m, result)
		}
	}
	wantTasks := []string{`{"agent":"core","task":"how full are the disks?"}`, `{"agent":"config","task":"show app.conf"}`}
	if diff := cmp.Diff(wantTasks, tasks); diff != "" {
		t.Error(diff)
	}
	item := func(first, second string) string {
		return `{"todos":[{"content":"how full are the disks?","status":"` + first + `"},{"content":"ask config to show app.conf","status":"` + second + `"}]}`
	}
	if diff := cmp.Diff([]string{item("in_progress", "pending"), item("completed", "in_progress"), item("completed", "completed")}, plans); diff != "" {
		t.Error(diff)
	}
	got := turn(t, request(m...)).Content
	if want := "1. how full are the disks?\nfine\n\n2. ask config to show app.conf\nfine" + demoNote; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDemoSummarises(t *testing.T) {
	got := turn(t, Request{System: SummarySystem, Messages: []Message{user(`{"role":"user","content":"the disks?"}` + "\n" + `{"role":"tool","tool":"run_command","content":"x"}`)}})
	if want := "2 messages went before.\nThe user asked: the disks?\nThese tools were called: run_command."; got.Content != want {
		t.Errorf("got %q, want %q", got.Content, want)
	}
}

func TestDemoCancelled(t *testing.T) {
	why := errors.New("revoked")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := NewDemo().Turn(ctx, demoRequest("core", user("disks")), nil); !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// Whatever is asked and whatever the tools answer, a turn gives a text or valid
// calls, and its pieces are its text.
func FuzzDemo(f *testing.F) {
	f.Add("disks and memory", dfOut, "success")
	f.Add("what was denied?", "a | b\n1 | 2\n(1 row)\n", "denied")
	f.Add("show 'x.txt' SELECT", "\xff|\n(", "")
	f.Fuzz(func(t *testing.T, text, out, status string) {
		for agent := range agentTools {
			m := []Message{user(text)}
			for range 2 {
				answer := turn(t, demoRequest(agent, m...))
				if (answer.Content == "") == (len(answer.ToolCalls) == 0) {
					t.Fatalf("%s, %q: got %+v", agent, text, answer)
				}
				m = append(m, answer)
				for _, c := range answer.ToolCalls {
					if !json.Valid([]byte(c.Arguments)) {
						t.Errorf("arguments %q", c.Arguments)
					}
					m = append(m, Message{Role: RoleTool, ToolCallID: c.ID, Name: c.Name, Status: status, Content: out})
				}
				if len(answer.ToolCalls) == 0 {
					break
				}
			}
			if last := m[len(m)-1]; last.Role != RoleAssistant && last.Role != RoleTool {
				t.Errorf("ends with %+v", last)
			}
		}
	})
}

func BenchmarkDemo(b *testing.B) {
	question := []Message{user("How full are the disks on this host?")}
	call := ToolCall{ID: "call_core_1", Name: "run_command", Arguments: `{"command":"df -h"}`}
	answered := append(question[:1:1], Message{Role: RoleAssistant, ToolCalls: []ToolCall{call}}, Message{Role: RoleTool, ToolCallID: call.ID, Status: "success", Content: dfOut})
	for name, r := range map[string]Request{
		"call": demoRequest("core", question...), "answer": demoRequest("core", answered...), "about": demoRequest("quick", user("tell me about yourself")),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := NewDemo().Turn(b.Context(), r, func(string) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
