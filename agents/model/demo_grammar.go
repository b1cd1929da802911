package model

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// topic is one thing that the demo model can be asked about.
type topic struct {
	agent string // who has the tool
	tool  string
	match func(q question) bool
	call  func(q question) string             // the arguments
	tell  func(q question, out string) string // the answer from the tool's output
}

// topics is the grammar, in the order of the answers. It is not changed.
var topics = []topic{
	{"core", "run_command", func(q question) bool {
		return q.has("disk", "disks", "filesystem", "filesystems", "storage", "df", "partition", "partitions", "mounts") || q.has("full") && q.has("how") || q.has("space") && q.has("free", "left", "much", "used")
	}, command("df -h"), tellDisks},
	{"core", "run_command", func(q question) bool { return q.has("memory", "ram", "swap", "mem") && !q.has(processWords...) }, command("free -m"), tellMemory},
	{"core", "run_command", func(q question) bool { return q.has(processWords...) }, func(q question) string {
		if q.has("memory", "ram", "mem") {
			return object("command", "ps -eo pid,user,pcpu,pmem,comm --sort=-pmem")
		}
		return object("command", "ps -eo pid,user,pcpu,pmem,comm --sort=-pcpu")
	}, tellProcesses},
	{"core", "run_command", func(q question) bool {
		return q.has("uptime", "load", "reboot", "rebooted", "boot", "booted") || q.has("up") && q.has("long", "since")
	}, command("uptime"), tellUptime},
	{"core", "run_command", func(q question) bool {
		return q.has("ip", "ips", "address", "addresses", "interface", "interfaces", "network")
	}, command("ip -br addr"), tellAddresses},
	{"core", "run_command", func(q question) bool {
		return q.has("port", "ports", "listening", "listen", "listens", "socket", "sockets")
	}, command("ss -tuln"), tellPorts},
	{"core", "run_command", func(q question) bool { return q.has("kernel", "os", "linux", "operating") }, command("uname -snrm"), tellKernel},
	{"core", "run_command", func(q question) bool { return q.has("cpus", "cores", "processor", "processors") }, command("nproc"), tellProcessors},
	{"core", "run_command", func(q question) bool { return q.has("date", "clock") || strings.Contains(q.lower, "time is it") }, command("date"), tellDate},
	{"core", "run_command", func(q question) bool { return q.lists() }, func(q question) string {
		if p := q.path(); p != "" {
			return object("command", "ls -la '"+strings.ReplaceAll(p, "'", "")+"'")
		}
		return object("command", "ls -la")
	}, tellFolder},
	{"core", "read_file", func(q question) bool {
		return !q.lists() && q.has("show", "read", "cat", "open", "print", "display", "view") && q.path() != ""
	}, func(q question) string { return object("path", q.path()) }, tellFile},
	{"core", "query_database", func(q question) bool { return q.has("rows") && q.counts() && q.table() != "" }, func(q question) string {
		return object("sql", `SELECT count(*) AS rows FROM "`+q.table()+`"`)
	}, tellRowCount},
	{"core", "query_database", func(q question) bool { return q.has("tables") }, query("SHOW TABLES"), tellTables},
	{"audit", "query_audit", func(q question) bool { return q.denied() }, query("SELECT time, user, agent, tool, coalesce(path, '') AS path, reasons, error FROM denials ORDER BY seq DESC LIMIT 10"), tellDenials},
	{"audit", "query_audit", func(q question) bool { return q.calls() && q.counts() }, query("SELECT tool, status, count(*) AS calls FROM tool_calls GROUP BY tool, status ORDER BY calls DESC, tool, status"), tellCounts},
	{"audit", "query_audit", func(q question) bool { return q.calls() && !q.counts() && !q.denied() }, query("SELECT time, user, agent, tool, input, status, duration_ms FROM tool_calls ORDER BY time DESC LIMIT 10"), tellCalls},
	{"audit", "query_audit", func(q question) bool { return q.has("token", "tokens") }, query("SELECT model, count(*) AS turns, sum(total_tokens) AS tokens FROM audit_runs GROUP BY model ORDER BY tokens DESC"), tellTokens},
	{"audit", "query_audit", func(q question) bool { return q.has("login", "logins", "logged") }, query("SELECT time, user, type, address, error FROM audit_events WHERE type IN ('login', 'login.failed') ORDER BY seq DESC LIMIT 10"), tellLogins},
}

// The exact forms stand alone: no other word of such a question counts.
var (
	runExactly   = topic{"core", "run_command", nil, func(q question) string { return object("command", q.exact) }, tellOutput}
	queryExactly = topic{"audit", "query_audit", nil, func(q question) string { return object("sql", q.exact) }, tellOutput}
	tableExactly = topic{"core", "query_database", nil, func(q question) string { return object("sql", q.exact) }, tellOutput}
)

var processWords = []string{"process", "processes", "programs", "ps", "top", "cpu"}

func command(line string) func(question) string {
	arguments := object("command", line)
	return func(question) string { return arguments }
}

func query(sql string) func(question) string {
	arguments := object("sql", sql)
	return func(question) string { return arguments }
}

// object makes a JSON object of names and string values.
func object(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString([]string{"{", ","}[min(i, 1)])
		for j, s := range pairs[i : i+2] {
			text, err := json.Marshal(s)
			if err != nil { // no string fails
				text = []byte(`""`)
			}
			b.WriteString([]string{"", ":"}[j])
			b.Write(text)
		}
	}
	return b.String() + "}"
}

// question is what the user wrote, taken apart.
type question struct {
	text, lower string
	tokens      []string // words as written
	words       []string // words in lower case
	exact       string   // the command or query to take literally
	sql         bool     // exact is for query_audit
	database    bool     // exact is for query_database
	language    string   // of exact, when it is a program
}

func ask(text string) question {
	q := question{text: strings.TrimSpace(text)}
	q.lower = strings.ToLower(q.text)
	for _, w := range strings.FieldsFunc(q.text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._/-", r)
	}) {
		if w = strings.TrimRight(w, "."); w != "" {
			q.tokens, q.words = append(q.tokens, w), append(q.words, strings.ToLower(w))
		}
	}
	switch {
	case q.code():
		return q
	case strings.HasPrefix(q.lower, "run ") || strings.HasPrefix(q.lower, "execute "):
		_, q.exact, _ = strings.Cut(q.text, " ")
	case strings.HasPrefix(q.lower, "sql:"):
		q.exact, q.database = q.text[len("sql:"):], true
	case strings.HasPrefix(q.lower, "select ") || strings.HasPrefix(q.lower, "with "):
		q.exact, q.sql = q.text, true
	}
	q.exact = strings.Trim(q.exact, "` \t\n")
	return q
}

// has reports whether one of words occurs.
func (q question) has(words ...string) bool {
	return slices.ContainsFunc(q.words, func(w string) bool { return slices.Contains(words, w) })
}

// topics finds what the question is about.
func (q question) topics() []*topic {
	if t := q.devices(); t != nil {
		return []*topic{t}
	}
	switch {
	case q.database:
		return []*topic{&tableExactly}
	case q.language != "":
		return []*topic{&codeExactly}
	case q.sql:
		return []*topic{&queryExactly}
	case q.exact != "":
		return []*topic{&runExactly}
	}
	if t := q.asks(); t != nil {
		return []*topic{t}
	}
	if t := q.writes(); t != nil {
		return []*topic{t}
	}
	if t := q.fetches(); t != nil {
		return []*topic{t}
	}
	if t := q.requests(); t != nil {
		return []*topic{t}
	}
	if t := q.borrows(); t != nil {
		return []*topic{t}
	}
	if found := q.acts(); found != nil {
		return found
	}
	var found []*topic
	for i := range topics {
		if topics[i].match(q) {
			found = append(found, &topics[i])
		}
	}
	return found
}

// acts are the commands that the question asks to be run, for their effect: one call for what is
// joined by "and", one command line for what is to happen in an order, "and then". It is nil when any
// part of the question is something else.
func (q question) acts() []*topic {
	var found []*topic
	for _, part := range splitWords(q.text, " and ", "; ") {
		var line []string
		for _, step := range splitWords(part, " then ") {
			cmd := act(step)
			if cmd == "" {
				return nil
			}
			line = append(line, cmd)
		}
		arguments := object("command", strings.Join(line, " && "))
		found = append(found, &topic{"core", "run_command", nil, func(question) string { return arguments }, tellDone})
	}
	return found
}

// splitWords splits a text at any of the separators; "and then" is a "then".
func splitWords(text string, separators ...string) []string {
	text = " " + strings.TrimRight(strings.TrimSpace(text), ".!") + " "
	for _, joined := range []string{", and then ", " and then ", ", then "} {
		text = strings.ReplaceAll(text, joined, " then ")
	}
	for _, s := range separators {
		text = strings.ReplaceAll(text, s, "\x00")
	}
	parts := strings.Split(text, "\x00")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

var (
	deleteFolder = regexp.MustCompile(`(?i)^(?:please )?(?:delete|remove|erase) (?:the )?(?:folder|directory) ["'` + "`" + `]?([A-Za-z0-9._/-]+?)/?["'` + "`" + `]?$`)
	tendService  = regexp.MustCompile(`(?i)^(?:please )?(reload|restart|stop) (?:the )?(?:service )?([a-z0-9][a-z0-9@_.-]*)(?: service)?$`)
)

// act is the command of one step, empty when the step is none.
func act(step string) string {
	if m := deleteFolder.FindStringSubmatch(step); m != nil {
		return "rm -r -- " + m[1]
	}
	m := tendService.FindStringSubmatch(step)
	switch {
	case m == nil:
		return ""
	case strings.EqualFold(m[2], "nginx") && strings.EqualFold(m[1], "reload"):
		return "nginx -s reload"
	}
	return "systemctl " + strings.ToLower(m[1]) + " " + strings.ToLower(m[2])
}

// tellDone says that a command ran, with what it printed.
func tellDone(q question, out string) string {
	if out = strings.TrimSpace(out); out == "" || out == "[no output]" {
		return "Done."
	}
	return "Done. " + tellOutput(q, out)
}

func (q question) about() bool {
	return q.has("yourself", "help", "hello", "hi") || strings.Contains(q.lower, "are you") || strings.Contains(q.lower, "can you do")
}

func (q question) denied() bool {
	return q.has("denied", "denials", "refused", "rejected", "blocked", "forbidden")
}

func (q question) calls() bool {
	return q.has("call", "calls", "audit") || q.has("last", "recent") && q.has("tool", "tools", "commands")
}

func (q question) counts() bool {
	return q.has("many", "count", "number")
}

// table is the table that the question names: the word after "table", "in" or "of", or else the one
// before "table".
func (q question) table() string {
	name := func(i int) bool {
		return i >= 0 && i < len(q.words) && !slices.Contains([]string{"the", "a", "are", "is", "there", "this", "table"}, q.words[i]) && !strings.ContainsAny(q.words[i], "/-")
	}
	for i, w := range q.words {
		if slices.Contains([]string{"table", "in", "of"}, w) && name(i+1) {
			return q.tokens[i+1]
		}
	}
	if i := slices.Index(q.words, "table") - 1; name(i) {
		return q.tokens[i]
	}
	return ""
}

func (q question) lists() bool {
	return q.has("ls") || q.has("list", "show", "which", "what", "are") && q.has("files", "folder", "folders", "directory", "directories") && !q.denied()
}

// path is the file or folder that the question names: in quotes, with a dot or a
// slash, or after in, folder, directory or file.
func (q question) path() string {
	for _, mark := range []string{"`", `"`, "'"} {
		if _, after, ok := strings.Cut(q.text, mark); ok {
			if p, _, ok := strings.Cut(after, mark); ok && p != "" {
				return p
			}
		}
	}
	for _, t := range q.tokens {
		if strings.ContainsAny(t, "./") {
			return t
		}
	}
	for i, w := range q.words[:max(0, len(q.words)-1)] {
		next := q.words[i+1]
		if slices.Contains([]string{"in", "folder", "directory", "file"}, w) &&
			!slices.Contains([]string{"the", "this", "a", "my", "here", "it", "project", "root", "of", "on", "and", "folder", "directory", "there"}, next) {
			return q.tokens[i+1]
		}
	}
	return ""
}
