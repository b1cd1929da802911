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

// sqlAlone reports whether a statement of SQL would do nothing else if a shell were given it: it has
// nothing that a shell runs or redirects, and no line that could be a command of its own.
func sqlAlone(text string) bool {
	if strings.ContainsAny(text, "`&|") || strings.Contains(text, "$(") || strings.Contains(text, "${") {
		return false
	}
	before := ","
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if bare == "" || strings.HasPrefix(bare, "--") {
			continue
		}
		first := bare[:len(bare)-len(strings.TrimLeft(bare, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
		follows := strings.HasSuffix(before, ",") || strings.HasSuffix(before, "(")
		switch {
		case sqlKeywords.HasFoldString(first), strings.IndexByte("(),'\"", bare[0]) >= 0, follows && bare[0] != '.' && bare[0] != '/' && bare[0] != '~', strings.HasSuffix(bare, ",") && bare[0] != '.' && bare[0] != '/':
		default:
			return false
		}
		before = bare
	}
	return true
}
