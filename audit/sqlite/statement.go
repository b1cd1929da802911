package sqlite

import (
	"fmt"
	"strings"
)

// checkStatement refuses what is not one reading statement. It is lexical, so that nothing of a
// refused statement is ever compiled: some PRAGMAs take effect while they are. What it lets pass is
// still held by the fence of runQuery.
func checkStatement(query string) error {
	if strings.IndexByte(query, 0) >= 0 {
		return fmt.Errorf("checking the statement: it contains a NUL character")
	}
	first, rest := token(query)
	switch strings.ToUpper(first) {
	case "SELECT", "WITH", "VALUES", "EXPLAIN":
	case "", ";":
		return fmt.Errorf("checking the statement: it is empty; start with SELECT")
	default:
		return fmt.Errorf("checking the statement: it begins with %.20q; only SELECT, WITH, VALUES and EXPLAIN can be run", first)
	}
	explain := strings.EqualFold(first, "EXPLAIN")
	ended := false
	for {
		var t string
		if t, rest = token(rest); t == "" {
			return nil
		}
		if ended && t != ";" {
			return fmt.Errorf("checking the statement: there is more after its ';'; run one statement at a time")
		}
		ended = ended || t == ";"
		if explain { // EXPLAIN of a PRAGMA or ATTACH compiles it
			switch strings.ToUpper(t) {
			case "QUERY", "PLAN":
			case "SELECT", "WITH", "VALUES":
				explain = false
			default:
				return fmt.Errorf("checking the statement: EXPLAIN is followed by %.20q; only SELECT, WITH and VALUES can be explained", t)
			}
		}
	}
}

// token returns the next token of SQL and what follows it; "" at the end. Strings and quoted names
// are one token, comments none; otherwise it only tells words from single characters. The rules are
// those of SQLite's tokenizer: an unended string or block comment reaches to the end.
func token(s string) (tok, rest string) {
	for s != "" {
		switch {
		case strings.IndexByte(" \t\n\f\r", s[0]) >= 0:
			s = s[1:]
		case strings.HasPrefix(s, "--"):
			s = after(s, "\n", 2)
		case strings.HasPrefix(s, "/*"):
			s = after(s, "*/", 2)
		case s[0] == '\'' || s[0] == '"' || s[0] == '`':
			end := quoted(s)
			return s[:end], s[end:]
		case s[0] == '[':
			r := after(s, "]", 1)
			return s[:len(s)-len(r)], r
		default:
			end := 1
			for word(s[0]) && end < len(s) && word(s[end]) {
				end++
			}
			return s[:end], s[end:]
		}
	}
	return "", ""
}

func after(s, mark string, from int) string {
	if i := strings.Index(s[from:], mark); i >= 0 {
		return s[from+i+len(mark):]
	}
	return ""
}

// quoted returns the length of the string or name that s begins with; a doubled quote is part of it.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			continue
		}
		if i+1 < len(s) && s[i+1] == s[0] {
			i++
			continue
		}
		return i + 1
	}
	return len(s)
}

func word(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
