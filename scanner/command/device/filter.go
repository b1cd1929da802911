package device

import (
	"regexp"
	"slices"
	"strings"
)

// filters are what a device's output may be piped into, with the words that may follow: any, where
// there is no pattern. None of them writes.
var filters = map[string]*regexp.Regexp{
	"include": nil, "i": nil, "inc": nil, "incl": nil, "exclude": nil, "exc": nil, "excl": nil, "begin": nil, "beg": nil, "section": nil, "sec": nil, "sect": nil, "count": nil,
	"match": nil, "except": nil, "no-more": nil, "nomore": nil, "hold": nil, "trim": regexp.MustCompile(`^\d*$`), "resolve": nil, "utility": regexp.MustCompile(`^(?:egrep|fgrep|head|tail|wc|sort|uniq|cut)?$`),
	"find": regexp.MustCompile(`^[^-]`), "grep": regexp.MustCompile(`^(?:-[ivcnwoxEFAB]*\d*|[^-].*)$`), "egrep": regexp.MustCompile(`^(?:-[ivcnwoxAB]*\d*|[^-].*)$`),
	"compare": regexp.MustCompile(`^(?:rollback|\d+)$`), "display": regexp.MustCompile(`^(?:set|json|xml|inheritance|detail|omit|relative|commit-scripts|changed|defaults|no-comments|terse)$`),
	"json": nil, "json-pretty": nil, "xml": nil, "headers": nil, "linnum": nil, "one-line": nil, "tag": nil, "pretty": nil, "table": nil,
}

// Filters reports whether a command is a filter of a device's output, which writes nothing.
func Filters(name string, words []string) bool {
	pattern, ok := filters[name]
	return ok && !slices.ContainsFunc(words, func(w string) bool {
		return strings.ContainsAny(w, "\n") || pattern != nil && !pattern.MatchString(w)
	})
}
