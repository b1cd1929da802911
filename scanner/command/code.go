package command

import (
	"cmp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// Language is a language that [ScanCode] knows.
type Language string

// The languages. AnyLanguage is told from the text.
const (
	AnyLanguage Language = ""
	Python      Language = "python"
	JavaScript  Language = "javascript"
	Shell       Language = "shell"
	SQL         Language = "sql"
)

// maxCode is the longest program in bytes that is read, maxCommand the longest script. A longer one
// is a finding.
const maxCode = 4 << 20

// ScanCode finds the places where a program sends requests that change something ([HTTPWrite]) or
// changes a database ([DatabaseWrite]), before it is run. The findings stand in the order of the
// text and are of high confidence.
//
// Python and JavaScript (also TypeScript) are read by their tokens, so that comments and strings
// that are not run are none. Imports with other names, assignments, getattr, constant
// expressions, exec of constants, statements of SQL given to any client, and command lines given
// to a shell are followed. What is only put together at run time from what is not in the program
// is not seen: the scan is a check before the sandbox and does not replace it.
func ScanCode(program string, lang Language) []scanner.Finding {
	if lang == AnyLanguage && len(program) <= maxCode {
		lang = DetectLanguage(program)
	}
	if len(program) > maxCode || lang == Shell && len(program) > maxCommand {
		return []scanner.Finding{{Category: scanner.HTTPWrite, Rule: "code-too-long", Confidence: scanner.High, Start: 0, End: len(program), Excerpt: "the program is too long to be read", View: scanner.ViewCode}}
	}
	var effects []effect
	switch lang {
	case Shell:
		effects = shellEffects(program)
	case SQL:
		effects = sqlEffectsOf(program)
	default:
		effects = codeEffects(program, lang, 0)
	}
	type key struct {
		category scanner.Category
		start    int
	}
	told := make(map[key]bool)
	var found []scanner.Finding
	for _, e := range effects {
		if k := (key{e.write, e.start}); e.write == "" || told[k] {
			continue
		} else {
			told[k] = true
		}
		found = append(found, scanner.Finding{
			Category: e.write, Rule: e.rule, Confidence: scanner.High, Start: e.start, End: e.end,
			Excerpt: text.Excerpt(program[e.start:e.end]), View: scanner.ViewCode,
		})
	}
	slices.SortStableFunc(found, func(a, b scanner.Finding) int { return cmp.Compare(a.Start, b.Start) })
	return found
}

// effect is what a place of a program does to the world.
type effect struct {
	verdict
	rule       string
	start, end int
}

// maxQuoted is how often a program may stand in a program.
const maxQuoted = 4

// codeEffects returns what a program in Python, JavaScript or a like language does.
func codeEffects(text string, lang Language, depth int) []effect {
	if depth > maxQuoted {
		return nil
	}
	scope := &codeScope{bound: make(map[string][]*node), alias: make(map[string][]string)}
	p := codeParser{scope: scope, script: lang == JavaScript}
	if p.script {
		p.tokens = tokensJS(text)
	} else {
		p.tokens = python{text: text}.tokens(0, len(text))
	}
	root := &node{}
	for p.i < len(p.tokens) {
		p.items(root, false) // a bracket too many ends it early
	}
	w := codeWalker{values: codeValues{codeScope: scope, script: p.script}, lang: lang, depth: depth}
	w.walk(root, false)
	w.methods()
	if w.values.total >= maxTotal {
		w.report(verdict{class: Unknown, write: scanner.HTTPWrite, reason: "the program is too entangled to be told apart"}, "code-too-entangled", &node{end: len(text)})
	}
	if !p.script && depth == 0 {
		w.magics(text)
	}
	return w.effects
}

// codeWalker looks at each call of a program.
type codeWalker struct {
	values  codeValues
	lang    Language
	depth   int
	effects []effect
}

// walk visits a node; callee says that it is what a call calls.
func (w *codeWalker) walk(n *node, callee bool) {
	switch {
	case n.kind == nodeCall:
		w.call(n)
	case (n.kind == nodeAttr || n.kind == nodeName) && !callee:
		w.reference(n)
	}
	for i, kid := range n.kids {
		w.walk(kid, n.kind == nodeCall && i == 0 || n.kind == nodeAttr)
	}
}

// fresh gives each question its own budget.
func (w *codeWalker) fresh() *codeValues {
	w.values.steps, w.values.depth = 0, 0
	return &w.values
}

func (w *codeWalker) call(n *node) {
	for _, path := range w.fresh().paths(n.kids[0]) {
		path = strings.TrimSuffix(path, ".__call__")
		if w.values.script {
			path = strings.TrimSuffix(strings.TrimSuffix(path, ".call"), ".apply")
		}
		c := codeCall{n, w.fresh(), path}
		if rule := writesDatabase(c); rule != "" {
			w.report(verdict{class: Mutate, write: scanner.DatabaseWrite, reason: "it changes a database"}, rule, n)
		} else if rule := writesHTTP(codeCall{n, w.fresh(), path}); rule != "" {
			w.report(verdict{class: Mutate, write: scanner.HTTPWrite, reason: "it sends a request that changes something"}, rule, n)
		}
		w.host(codeCall{n, w.fresh(), path})
	}
}

// reference tells of a function that writes and is handed on: pool.map(requests.post, urls).
func (w *codeWalker) reference(n *node) {
	if n.kind == nodeAttr && !httpVerbs.HasFoldString(n.text) || n.kind == nodeName && w.values.alias[n.text] == nil && w.values.bound[n.text] == nil {
		return
	}
	for _, path := range w.fresh().paths(n) {
		receiver, name := splitPath(path)
		if httpVerbs.HasFoldString(name) && text.Lists("requests httpx axios aiohttp got ky superagent urllib3", strings.Trim(receiver, "?()")) {
			w.report(verdict{class: Mutate, write: scanner.HTTPWrite, reason: "it hands on a function that changes something"}, "http-reference", n)
		}
	}
}

// methods tells of requests whose method is assigned: request.get_method = lambda: "PUT".
func (w *codeWalker) methods() {
	for name, exprs := range w.values.bound {
		if _, last := splitPath(name); last != "get_method" && last != "method" || last == name {
			continue
		}
		for _, n := range exprs {
			if n.kind == nodeChain {
				n = n.kids[len(n.kids)-1]
			}
			if v, ok := w.fresh().one(n); ok && httpVerbs.HasFoldString(v) && v == strings.ToUpper(v) {
				w.report(verdict{class: Mutate, write: scanner.HTTPWrite, reason: "it makes a request one that changes something"}, "http-method", n)
			}
		}
	}
}

func (w *codeWalker) report(v verdict, rule string, n *node) {
	w.effects = append(w.effects, effect{v, rule, n.start, n.end})
}

// nested adds what a program or command line in a string does.
func (w *codeWalker) nested(effects []effect, n *node) {
	for _, e := range effects {
		w.report(e.verdict, e.rule, n)
	}
}

// sqlEffectsOf returns what statements do, each at its own place.
func sqlEffectsOf(text string) (effects []effect) {
	for _, s := range sqlStatements(text) {
		if v, ok := judgeStatement(s, false); ok && v.write != "" {
			effects = append(effects, effect{v, "sql-" + strings.ToLower(s[0].Text), s[0].Start, s[len(s)-1].End})
		}
	}
	return effects
}

// shellEffects returns what a script does, each command at its place.
func shellEffects(text string) []effect { return lineEffects(text, 0) }

// lineEffects analyses a script as Analyze does.
func lineEffects(text string, depth int) []effect {
	a := newAnalysis(text)
	a.quoted = depth
	a.analyze(text, 0, nil)
	return a.effects
}
