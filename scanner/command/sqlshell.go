package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// sqlKeywords are words with which a line within a statement may begin.
var sqlKeywords = text.Words(`select from where and or join left right inner outer cross full natural on using group order by having limit offset union
	all intersect except insert into values update set delete drop create alter table view index if exists not null primary key foreign references
	constraint unique check default case when then else end as with recursive returning truncate merge matched replace grant revoke explain
	analyze begin commit rollback show describe pragma copy to fetch window partition over in is like between asc desc distinct add column rename
	cascade restrict begin start transaction do nothing conflict lateral only do`)

// noPrograms are those of them that no host has as a program, however they are written.
var noPrograms = text.Words("select from where and or left right inner outer cross natural using group order having limit offset union except intersect on values explain pragma with summarize table begin commit rollback")

// sqlAlone reports whether a statement of SQL would do nothing if a shell were given it: it has nothing
// that a shell expands or redirects, and each line and part of it begins with what is no program.
func sqlAlone(text string) bool {
	if strings.ContainsAny(text, "`&|>\\") || strings.Contains(text, "$(") || strings.Contains(text, "${") {
		return false
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
		bare := strings.TrimSpace(line)
		name, rest, _ := strings.Cut(bare, " ")
		keyword := bare[:len(bare)-len(strings.TrimLeft(bare, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
		switch {
		case bare == "", name == "--", bare[0] == ')':
		case name == keyword && (noPrograms.HasFoldString(keyword) || sqlKeywords.HasFoldString(keyword) && keyword == strings.ToUpper(keyword)):
		case strings.HasSuffix(name, ",") && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,") == "": // a column, and no name of a program
		case len(name) <= 2 && name == keyword && rest == "" && !hostProgram(name):
		default:
			return false
		}
	}
	return true
}
