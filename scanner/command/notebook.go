package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// magics looks at the lines of a notebook that are not Python: !command, %sql, %%bash.
func (w *codeWalker) magics(source string) {
	offset := 0
	for line := range strings.Lines(source) {
		start := offset
		offset += len(line)
		bare := strings.TrimSpace(line)
		if bare == "" || bare[0] != '!' && bare[0] != '%' {
			continue
		}
		at := &node{start: start, end: start + len(strings.TrimRight(line, "\r\n"))}
		name, rest, _ := strings.Cut(strings.TrimLeft(bare, "!%"), " ")
		if strings.HasPrefix(bare, "%%") {
			rest, at.end = source[offset:], len(source)
		}
		switch {
		case bare[0] == '!':
			w.nested(lineEffects(name+" "+rest, w.depth+1), at)
		case name == "sql":
			if v, ok := judgeSQL(rest, false); ok && v.write != "" {
				w.report(v, "db-sql", at)
			}
		case text.Lists("bash sh shell sx system script", name):
			w.nested(lineEffects(rest, w.depth+1), at)
		}
		if strings.HasPrefix(bare, "%%") {
			return
		}
	}
}
