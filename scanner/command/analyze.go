package command

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command/evaluate"
	"github.com/svc-gateway/svc/scanner/command/usage"
)

// Limits of a command line. What is beyond them is not called harmless.
const (
	maxLine    = 4 << 10  // bytes; see Analyze
	maxCommand = 64 << 10 // bytes of a script, and of what a line amounts to
	maxNesting = 24       // command lines within command lines: sh -c "sh -c …"

	// What may be looked at, in bytes. A command that is judged counts for many of them, as it takes
	// as long; so does an assignment or a piece of what cannot be parsed, and so does each word.
	lineWork   = 12 << 10
	scriptWork = 8 << 20
	perCommand = 256
	perGuess   = 64
	perWord    = 16
)

// Analyze tells what a command line would do at worst. It is strict: what it does not
// know for certain to be harmless it does not call so. A line that cannot be parsed, a command
// whose name is only known at run time, an interpreter that reads a program from elsewhere and a
// command that is not in the table are at least [Unknown].
//
// Wrappers such as sudo, env, timeout, xargs, ssh, docker exec and find -exec are taken off;
// command lines and programs that a shell or another interpreter is given, as an argument, a
// here-document or through a pipe, are analysed too. Quotes, variables, braces, $IFS and what
// echo, printf and base64 print are folded where they are constant: what a line probably does
// makes it dangerous, but only what it certainly does makes it harmless. Paths are judged by
// their text: absolute ones, those in the home folder and those that climb out with .. are
// outside of the root. Commands of network devices are judged by their first words, which may be
// shortened, statements of SQL by their verbs.
//
// A line of more than 4 KiB is Unknown, and nothing else is said of it: no terminal of Linux takes a longer one,
// and the longest of some thousand collected lines has 582 bytes. One that holds more commands than
// anybody would read, about forty, or that is entangled as much, is Dangerous. So the analysis of any
// text takes about a millisecond at most.
func Analyze(text string) Command { return newAnalysis(text).run() }

// run analyses the text as a line.
func (a *analysis) run() Command {
	text := a.text
	a.budget = lineWork
	if len(text) > maxLine {
		a.raise(unknown("the command line is too long to be understood"), place{0, len(text)})
	} else {
		a.analyze(text, 0, nil)
	}
	return a.done()
}

// done is the result.
func (a *analysis) done() Command {
	if a.result.Class == "" {
		a.raise(unknown("there is no command"), place{0, len(a.text)})
	}
	a.result.Confined = a.result.Class == Mutate && !a.beyond
	a.result.Traits = a.traits.Names()
	slices.Sort(a.result.Categories)
	slices.SortStableFunc(a.result.Spans, func(x, y Span) int { return x.Start - y.Start })
	return a.result
}

// verdict is what one command, redirection or construct does.
type verdict struct {
	class    Class
	category string
	reason   string
	write    scanner.Category // HTTPWrite or DatabaseWrite where it is one
	file     bool             // of the class Mutate: all that it changes are files that are named
}

func unknown(reason string) verdict { return verdict{class: Unknown, reason: reason} }

func mutate(reason string) verdict { return verdict{class: Mutate, reason: reason} }

func mutateFile(reason string) verdict { return verdict{class: Mutate, reason: reason, file: true} }

func dangerous(category, reason string) verdict {
	return verdict{class: Dangerous, category: category, reason: reason}
}

// place is a range of bytes of the text.
type place struct{ start, end int }

// analysis is one run of Analyze.
type analysis struct {
	text     string
	result   Command
	told     map[Span]bool // which spans are in the result
	effects  []effect
	depth    int
	quoted   int  // programs this line stands in
	work     int  // what was looked at
	budget   int  // of work
	guessing int  // more than 0 while what is only probable is judged
	host     bool // commands of devices are not looked for
	all      bool // all files of a host are there: what is read has to be public
	away     bool // cd led out of the root, or may have
	beyond   bool // it is not certain that only files in the folder are needed

	variables map[string]variable
	functions map[string]*function
	loaded    map[string]bool // files that were loaded from elsewhere

	traits    usage.Trait
	explained *[]Understood // nil unless it is to be explained
}

func newAnalysis(text string) *analysis {
	return &analysis{text: text, budget: scriptWork, told: make(map[Span]bool), variables: make(map[string]variable), functions: make(map[string]*function), loaded: make(map[string]bool)}
}

// analyze analyses a text as what it is most likely: SQL, commands of a device, a command line. It
// stands at the offset of the text or, where it was quoted, at a place.
func (a *analysis) analyze(text string, offset int, at *place, params ...arg) {
	whole := place{offset, offset + len(text)}
	if at != nil {
		whole = *at
	}
	if !a.stepped(len(text)) {
		return
	}
	if v, ok := judgeSQL(text, true); ok {
		a.raise(v, whole)
		if !sqlAlone(text) {
			a.raise(unknown("a shell would run it another way than a database"), whole)
		}
		w := shell{analysis: a, text: text, at: &whole}
		w.maybe(whole, func(b *analysis) {
			b.host = true
			b.line(text, 0, &whole)
		})
		return
	}
	if session(text) {
		a.deviceLines(text, true, at)
		if prompted(text) {
			a.raise(unknown("a prompt stands before the command"), whole)
			w := shell{analysis: a, text: text, at: &whole}
			w.maybe(whole, func(b *analysis) { b.line(text, 0, &whole) })
		}
		if a.result.Class != "" {
			return
		}
	}
	a.line(text, offset, at, params...)
}

// shellRules name the rules of findings in scripts.
var shellRules = map[scanner.Category]string{scanner.HTTPWrite: "shell-http", scanner.DatabaseWrite: "shell-db"}

// severity orders the classes.
func severity(c Class) int { return slices.Index([]Class{"", ReadOnly, Mutate, Unknown, Dangerous}, c) }

// raise adds a verdict.
func (a *analysis) raise(v verdict, p place) {
	if a.away && v.class == Mutate && v.write == "" {
		v = dangerous(WriteOutsideRoot, v.reason+" in another folder")
	}
	if severity(v.class) > severity(a.result.Class) {
		a.result.Class = v.class
	}
	if v.class == ReadOnly {
		return
	}
	a.beyond = a.beyond || !v.file
	a.effects = append(a.effects, effect{v, shellRules[v.write], p.start, p.end})
	for _, category := range []string{v.category, string(v.write)} {
		if category != "" && !slices.Contains(a.result.Categories, category) {
			a.result.Categories = append(a.result.Categories, category)
		}
	}
	if v.category == "" {
		v.category = string(v.write)
	}
	if s := (Span{p.start, p.end, v.category, v.reason}); v.reason != "" && !a.told[s] {
		a.told[s] = true
		a.result.Spans = append(a.result.Spans, s)
	}
}

// line analyses a command line at the offset of the text, or, where it was quoted, at a place.
// params are its $0, $1, ….
func (a *analysis) line(text string, offset int, at *place, params ...arg) {
	whole := place{offset, offset + len(text)}
	if at != nil {
		whole = *at
	}
	brackets, substitutions := maxBrackets, maxCommand
	if a.budget == lineWork {
		brackets, substitutions = lineBrackets, lineBrackets
	}
	switch {
	case len(text) > maxCommand:
		a.raise(unknown("the command line is too long to be understood"), whole)
		return
	case a.depth == maxNesting || deep(text, brackets), strings.Count(text, "$(") > substitutions:
		a.raise(dangerous("", "command lines are nested too deep to be told apart"), whole)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		a.raise(unknown("the command line cannot be parsed"), whole)
		a.deviceLines(text, false, &whole)
		a.loose(text, whole)
		return
	}
	a.depth++
	w := shell{analysis: a, text: text, offset: offset, at: at, params: params, assigned: new(map[string]int), file: file, found: evaluate.Look(file)}
	w.found.Doubts(func(n syntax.Node, reason string) { w.raise(unknown(reason), w.place(n)) })
	if w.found.Endless {
		w.trait(usage.Endless)
	}
	for _, s := range file.Stmts {
		w.stmt(s)
	}
	a.depth--
}

// How deep brackets may be nested in a script, and in a line, where no more substitutions may begin either. A
// parser calls itself for each, and says of each what it misses.
const (
	maxBrackets  = 500
	lineBrackets = 200
)

// deep reports whether brackets are nested deeper than that.
func deep(text string, most int) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{', '`':
			if depth++; depth > most {
				return true
			}
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return false
}

// loose looks for dangerous commands in a text that is no valid command line, cut at what
// separates commands, so that one quote too many does not hide them.
func (a *analysis) loose(text string, at place) {
	if lower := strings.ToLower(text); (strings.Contains(lower, "iex") || strings.Contains(lower, "expre")) && loadAndRun.MatchString(text) {
		a.raise(dangerous(RemoteCode, "it runs what comes from elsewhere"), at)
	}
	for line := range strings.Lines(separators.Replace(text)) {
		if !a.stepped(perGuess) {
			return
		}
		w := shell{analysis: a, text: text, at: &at}
		w.suspect(fieldsOf(line), at)
	}
}

// separators makes lines of what separates commands, and takes quotes away.
var separators = strings.NewReplacer("'", "", `"`, "", `\`, "", "`", "\n", "$(", "\n", "(", "\n", ")", "\n", ";", "\n", "&", "\n", "|", "\n", "{", "\n", "}", "\n")

// loadAndRun is the way to run what was loaded in PowerShell.
var loadAndRun = regexp.MustCompile(`(?i)\b(?:iex|invoke-expression)\b.*\b(?:iwr|irm|curl|wget|invoke-\w+|downloadstring)\b|\b(?:iwr|irm|invoke-webrequest|downloadstring)\b.*\|\s*(?:iex|invoke-expression)\b`)

// stepped counts the work and reports whether some more may be done.
func (a *analysis) stepped(n int) bool {
	before := a.work
	if a.work += n; before < a.budget && a.work >= a.budget {
		a.raise(dangerous("", "the command line is too entangled to be told apart"), place{0, len(a.text)})
	}
	return a.work < a.budget
}
