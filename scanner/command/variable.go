package command

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/svc-gateway/svc/scanner/command/usage"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// variable is what a variable holds.
type variable struct {
	text    string
	certain bool // it holds that and nothing else
	remote  bool // it holds what comes from elsewhere
}

// environment is what variables hold on most hosts.
var environment = map[string]string{
	"HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SHELL": "/bin/sh", "PWD": ".", "TMPDIR": "/tmp",
	"USER": "root", "BASH": "/bin/bash", "TMP": "/tmp", "TEMP": "/tmp",
}

// assign judges NAME=value and remembers it. Variables in capitals, those that are handed to a
// command and those of a proxy may change what later commands do, or which they are.
func (w *shell) assign(a *syntax.Assign, handed bool) {
	if a.Name == nil {
		w.raise(unknown("it assigns what is only known at run time"), w.place(a))
		return
	}
	name, value := a.Name.Value, arg{}
	if a.Value != nil {
		value = w.word(a.Value)
	}
	if a.Append {
		value.text = w.variables[name].text + value.text
	}
	if a.Array != nil {
		parts := make([]string, 0, len(a.Array.Elems))
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				parts = append(parts, w.word(e.Value).text)
			}
		}
		value = arg{text: strings.Join(parts, " "), dynamic: true}
	}
	if !a.Naked {
		w.set(name, value, !a.Append && !handed)
	}
	switch {
	case usage.Harmless(name), handed && name == "IFS" && w.handedTo == "read":
		w.raise(verdict{class: ReadOnly}, place{})
		return
	case !handed && a.Array == nil && usage.Local(name):
		w.raise(verdict{class: ReadOnly}, place{})
	default:
		w.raise(unknown("it sets a variable"), w.place(a))
	}
	if runsLater.HasFoldString(name[strings.LastIndexByte(name, '_')+1:]) {
		w.script(value.text, true, w.place(a))
	}
}

// runsLater are the last words of names of variables that hold commands.
var runsLater = text.Words("command cmd editor pager shell env visual browser askpass ssh opener hook")

// set remembers what a variable holds.
func (w *shell) set(name string, value arg, certain bool) {
	if len(value.text) <= maxCommand {
		w.variables[name] = variable{value.text, certain && !value.dynamic && w.branches == 0 && w.depth == 1 && w.assignments()[name] == 1, value.remote}
	}
}

// lookup returns what a variable holds.
func (w *shell) lookup(name string) (v variable, ok bool) {
	if v, ok = w.variables[name]; ok {
		return v, true
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n < len(w.params) {
			return variable{w.params[n].text, !w.params[n].dynamic, w.params[n].remote}, true
		}
		return variable{}, false
	}
	switch name {
	case "IFS":
		return variable{text: " ", certain: true}, true
	case "@", "*":
		texts := make([]string, 0, len(w.params))
		for _, p := range w.params[min(1, len(w.params)):] {
			texts = append(texts, p.text)
		}
		return variable{text: strings.Join(texts, " ")}, len(texts) > 0
	}
	text, ok := environment[name]
	return variable{text: text}, ok
}

// param returns what ${…} stands for, and whether that is certain.
func (w *shell) param(p *syntax.ParamExp) variable {
	none := variable{text: notYet}
	if p.Param == nil || p.Length || p.Names != 0 {
		return none
	}
	v, ok := w.lookup(p.Param.Value)
	if p.Excl {
		v, ok = w.lookup(v.text)
		v.certain = false
	}
	if p.Exp != nil {
		v, ok = w.alternative(p.Exp, v, ok)
	}
	if !ok {
		return none
	}
	if p.Slice != nil {
		v.text, ok = sliced(v.text, p.Slice)
	}
	if p.Repl != nil && p.Repl.Orig != nil {
		from, to := w.word(p.Repl.Orig), arg{}
		if p.Repl.With != nil {
			to = w.word(p.Repl.With)
		}
		if v.text = strings.Replace(v.text, from.text, to.text, 1); p.Repl.All && len(v.text)*(1+len(to.text)) < maxCommand {
			v.text = strings.ReplaceAll(v.text, from.text, to.text)
		}
	}
	if !ok {
		return none
	}
	v.certain = v.certain && p.Exp == nil && p.Slice == nil && p.Repl == nil && p.Index == nil
	return v
}

// alternative judges ${a:-b}, ${a#b} and their kind.
func (w *shell) alternative(e *syntax.Expansion, v variable, ok bool) (variable, bool) {
	word := ""
	if e.Word != nil {
		word = w.word(e.Word).text
	}
	switch op := e.Op.String(); op {
	case "-", ":-", "=", ":=":
		if !ok || v.text == "" || strings.HasPrefix(v.text, notYet) {
			return variable{text: word}, true
		}
	case "+", ":+":
		return variable{text: word}, true
	case "^", "^^":
		v.text = strings.ToUpper(v.text)
	case ",", ",,":
		v.text = strings.ToLower(v.text)
	case "#", "##":
		v.text = v.text[trimmed(v.text, word, op == "##", func(s string, i int) string { return s[:i] }):]
	case "%", "%%":
		n := trimmed(v.text, word, op == "%%", func(s string, i int) string { return s[len(s)-i:] })
		v.text = v.text[:len(v.text)-n]
	}
	return v, ok
}

// trimmed returns how long the shortest or longest part is that matches a pattern.
func trimmed(s, pattern string, longest bool, part func(s string, n int) string) (n int) {
	if len(s) > 512 || len(pattern) > 64 {
		return 0
	}
	for i := range len(s) + 1 {
		if ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x01"), strings.ReplaceAll(part(s, i), "/", "\x01")); ok && err == nil {
			if n = i; !longest {
				return n
			}
		}
	}
	return n
}

// sliced returns ${a:from:length} for constant numbers.
func sliced(s string, at *syntax.Slice) (string, bool) {
	from, ok := constant(at.Offset)
	if !ok {
		return "", false
	}
	if from < 0 {
		from += len(s)
	}
	from = min(max(from, 0), len(s))
	if at.Length == nil {
		return s[from:], true
	}
	n, ok := constant(at.Length)
	if n < 0 {
		n += len(s) - from
	}
	return s[from:min(max(from, from+n), len(s))], ok
}

// constant returns the number that an arithmetic expression is.
func constant(e syntax.ArithmExpr) (int, bool) {
	switch e := e.(type) {
	case *syntax.Word:
		n, err := strconv.Atoi(e.Lit())
		return n, err == nil
	case *syntax.ParenArithm:
		return constant(e.X)
	case *syntax.UnaryArithm:
		n, ok := constant(e.X)
		return -n, ok && e.Op == syntax.Minus
	}
	return 0, false
}

// redirect judges a redirection, and remembers what the command reads.
func (w *shell) redirect(r *syntax.Redirect) {
	if r.Hdoc != nil {
		w.substitutions(r.Hdoc)
		body := w.word(r.Hdoc)
		w.in = piped{text: body.text, known: true}
		return
	}
	if r.Word == nil {
		return
	}
	w.substitutions(r.Word)
	target := w.word(r.Word)
	switch r.Op {
	case syntax.WordHdoc:
		w.in = piped{text: target.text, known: true}
		return
	case syntax.RdrIn:
		if w.in = w.redirected(r.Word); target.dynamic || strings.HasPrefix(target.text, "/dev/tcp/") || strings.HasPrefix(target.text, "/dev/udp/") {
			w.raise(unknown("it reads from another host, or from what is only known at run time"), w.place(r))
		}
		w.lookAt("cat", call{target})
		w.beyond = w.beyond || !stays(target)
		return
	case syntax.DplIn, syntax.DashHdoc, syntax.Hdoc:
		return
	}
	if r.Op == syntax.DplOut && !target.dynamic && strings.Trim(target.text, "0123456789-") == "" {
		return
	}
	w.raise(writes(target), w.place(r))
}
