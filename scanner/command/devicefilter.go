package command

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// deviceFilters are what a device's output may be piped into, with the words that may follow: any, where
// there is no pattern. None of them writes.
var deviceFilters = map[string]*regexp.Regexp{
	"include": nil, "i": nil, "inc": nil, "incl": nil, "exclude": nil, "exc": nil, "excl": nil, "begin": nil, "beg": nil, "section": nil, "sec": nil, "sect": nil, "count": nil,
	"match": nil, "except": nil, "no-more": nil, "nomore": nil, "hold": nil, "trim": regexp.MustCompile(`^\d*$`), "resolve": nil, "utility": regexp.MustCompile(`^(?:egrep|fgrep|head|tail|wc|sort|uniq|cut)?$`),
	"find": regexp.MustCompile(`^[^-]`), "grep": regexp.MustCompile(`^(?:-[ivcnwoxEFAB]*\d*|[^-].*)$`), "egrep": regexp.MustCompile(`^(?:-[ivcnwoxAB]*\d*|[^-].*)$`),
	"compare": regexp.MustCompile(`^(?:rollback|\d+)$`), "display": regexp.MustCompile(`^(?:set|json|xml|inheritance|detail|omit|relative|commit-scripts|changed|defaults|no-comments|terse)$`),
	"json": nil, "json-pretty": nil, "xml": nil, "headers": nil, "linnum": nil, "one-line": nil, "tag": nil, "pretty": nil, "table": nil,
}

// filters reports whether a command is a filter of a device.
func filters(name string, args call) bool {
	pattern, ok := deviceFilters[name]
	if !ok || args.dynamic() {
		return false
	}
	return !slices.ContainsFunc(args, func(a arg) bool {
		return strings.ContainsAny(a.text, "\n") || pattern != nil && !pattern.MatchString(a.text)
	})
}

// fromDevice reports whether what a statement prints comes from a device: a command that shows something,
// perhaps filtered.
func (w *shell) fromDevice(s *syntax.Stmt) bool {
	if len(s.Redirs) > 0 {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 || c.Args[0].Lit() == "" || hostProgram(c.Args[0].Lit()) {
			return false
		}
		node, _ := deviceRoot.find(c.Args[0].Lit())
		return node != nil
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe && w.fromDevice(c.X)
	}
	return false
}

// filter judges what the output of a device is piped into. What is no filter is a command like any other,
// and more than that to the device: file, redirect, append, tee, save.
func (w *shell) filter(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(s.Redirs) > 0 {
		return false
	}
	for _, word := range c.Args {
		w.substitutions(word)
	}
	args := w.words(c.Args)
	if len(args) == 0 || args[0].dynamic || !filters(args[0].text, args[1:]) {
		return false
	}
	w.record(args[0].text, args)
	w.raise(verdict{class: ReadOnly}, w.place(c))
	return true
}

// deviceWords are words of a command that shows something with which it does more.
var deviceWords = text.Words("write-file read-file redirect append tee save file upload export output-file shell bash run-script exec execute")

// deviceReads reports whether the words of a command that shows something say no more than that: none
// is an option of a program, another host or a file to write.
func deviceReads(name string, args call) (verdict, bool) {
	for i, a := range args {
		switch low := strings.ToLower(a.text); {
		case a.text == "-" || strings.HasPrefix(a.text, "-") && !text.Lists("-all", low):
			return unknown("a host may run a program called " + name), false
		case strings.Contains(low, "://"), devicePlaces.MatchString(low):
			return unknown("it reaches for another host, or a file"), false
		case deviceWords.HasString(low) && (low != "file" || i > 0) && low != "export":
			return unknown("with " + a.text + " it does more than show"), false
		case strings.ContainsAny(a.text, ";`$<>&\n"):
			return unknown("a word of the command is not understood"), false
		}
	}
	switch name {
	case "terminal":
		if len(args) > 0 && !text.Lists("length width pager datadump monitor no exec len wid", args[0].text) {
			return unknown("terminal " + args[0].text + " does more than look"), false
		}
	case "monitor":
		return verdict{class: ReadOnly}, true
	}
	return verdict{class: ReadOnly}, true
}

var devicePlaces = regexp.MustCompile(`^(?:tftp|ftp|sftp|scp|http|https|rcp):`)
