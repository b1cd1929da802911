package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// shells are functions that run a command line or a program with its arguments.
var shells = text.Words(`system popen run call check_call check_output getoutput getstatusoutput create_subprocess_shell create_subprocess_exec
	exec execsync spawn spawnsync execfile execfilesync execa execacommand $ sh shell_exec passthru proc_open exec_command spawnv execv
	execvp execl execlp spawnlp posix_spawn command startprocess`)

// shellHolders are the modules and objects they belong to; without one a name must be unmistakable.
var shellHolders = text.Words(`os subprocess child_process commands asyncio pty plumbum sh shelljs execa sp cp popen2 posix deno process bun zx ssh client
	paramiko fabric c invoke conn connection`)

// host tells what a call does to the host: programs in strings, command lines, files.
func (w *codeWalker) host(c codeCall) {
	receiver, name := splitPath(c.path)
	fn := strings.ToLower(strings.TrimPrefix(name, unbound))
	parts := components(receiver)
	switch {
	case (fn == "exec" || fn == "eval" || fn == "compile" || fn == "function" || fn == "settimeout" || fn == "setinterval") && (receiver == "" || parts[0] == "builtins" || parts[0] == "window"),
		fn == "runinnewcontext" || fn == "runinthiscontext" || fn == "runpython" || fn == "runsource":
		for _, a := range c.args() {
			for _, text := range c.values.values(a) {
				w.nested(codeEffects(text, w.lang, w.depth+1), c.node)
				if startsCommand(text) {
					w.nested(lineEffects(text, w.depth+1), c.node)
				}
			}
		}
	case shells.HasFoldString(fn) && (receiver == "" && fn != "exec" && fn != "run" && fn != "call" && fn != "command" && fn != "$" || len(parts) > 0 && (shellHolders.HasFoldString(parts[0]) || shellHolders.HasFoldString(parts[len(parts)-1]))),
		fn == "popen" && (parts == nil || parts[0] == "subprocess" || parts[0] == "os"):
		for _, line := range c.commands() {
			w.nested(lineEffects(line, w.depth+1), c.node)
		}
	default:
		if v, ok := c.touches(receiver, fn); ok {
			w.report(v, "host-"+fn, c.node)
		}
	}
}

// commands returns the command lines that a call may run, in the syntax of a shell.
func (c codeCall) commands() (lines []string) {
	var argv []string
	for i := range c.args() {
		a := c.arg(i)
		if a == nil {
			break
		}
		if list := c.list(a); list != nil {
			for _, kid := range list.kids {
				argv = append(argv, c.quoted(kid))
			}
			continue
		}
		texts := c.values.values(a)
		if i == 0 {
			for _, text := range texts {
				lines = append(lines, strings.ReplaceAll(text, notYet, "$UNKNOWN"))
			}
			if len(texts) == 0 {
				argv = append(argv, "$UNKNOWN")
			}
		}
		if len(texts) > 0 {
			argv = append(argv, c.quoted(a))
		}
	}
	if len(argv) > 1 {
		lines = append(lines, strings.Join(argv, " "))
	}
	return lines
}

// list returns the list that an argument is or may be.
func (c codeCall) list(n *node) *node {
	if n.kind == nodeName {
		for _, b := range c.values.bound[n.text] {
			if b.kind == nodeGroup && b.text == "[" {
				return b
			}
		}
	}
	if n.kind == nodeGroup && n.text != "{" && len(n.kids) > 0 {
		return n
	}
	return nil
}

// quoted returns an argument as a word of a shell.
func (c codeCall) quoted(n *node) string {
	text, ok := c.values.one(n)
	if !ok {
		return "$UNKNOWN"
	}
	if strings.Contains(text, notYet) {
		return `"` + strings.ReplaceAll(text, notYet, "$UNKNOWN") + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// touches judges functions that delete or write files, or end processes.
func (c codeCall) touches(receiver, fn string) (verdict, bool) {
	parts := components(receiver)
	target := arg{dynamic: true}
	if a := c.arg(0); a != nil {
		if text, ok := c.values.one(a); ok {
			target = arg{text: text, dynamic: strings.Contains(text, notYet)}
		}
	}
	switch fn {
	case "rmtree", "remove_tree", "rm_rf", "rm_r", "rimraf", "emptydir", "emptydirsync", "removedirs", "deltree", "rimrafsync", "removesync":
		return dangerous(RecursiveDeletion, "the program deletes recursively"), true
	case "rm", "rmsync", "rmdir", "rmdirsync":
		if len(parts) > 0 && c.given("recursive") {
			return dangerous(RecursiveDeletion, "the program deletes recursively"), true
		}
	case "remove", "unlink", "unlinksync":
		if len(parts) > 0 && (parts[0] == "os" || parts[0] == "fs" || fn != "remove") {
			return writes(target), true
		}
	case "open", "writefile", "writefilesync", "appendfile", "appendfilesync", "createwritestream", "write_text", "write_bytes", "copyfile", "file_put_contents":
		mode := "w"
		if fn == "open" {
			mode = ""
			if n := c.arg(1); n != nil {
				mode, _ = c.values.one(n)
			} else if n := c.named("mode"); n != nil {
				mode, _ = c.values.one(n)
			}
		}
		if strings.ContainsAny(mode, "wax+>") {
			return writes(target), true
		}
	case "kill", "killpg":
		if len(parts) > 0 && (parts[0] == "os" || parts[0] == "process") {
			return dangerous(CriticalProcess, "the program ends processes"), true
		}
	}
	return verdict{}, false
}
