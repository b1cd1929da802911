package sqlite

import (
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/scanner/sqltoken"
)

// checkStatement refuses what is not one reading statement. It is lexical, so that nothing of a
// refused statement is ever compiled: some PRAGMAs take effect while they are. What it lets pass is
// still held by the fence of runQuery.
func checkStatement(query string) error {
	if strings.IndexByte(query, 0) >= 0 {
		return fmt.Errorf("checking the statement: it contains a NUL character")
	}
	first, ok := sqltoken.SQLite.Next(query, 0)
	switch {
	case first.Is("SELECT", "WITH", "VALUES", "EXPLAIN"):
	case !ok || first.Is(";"):
		return fmt.Errorf("checking the statement: it is empty; start with SELECT")
	default:
		return fmt.Errorf("checking the statement: it begins with %.20q; only SELECT, WITH, VALUES and EXPLAIN can be run", query[first.Start:first.End])
	}
	explain, ended := first.Is("EXPLAIN"), false
	for t, ok := sqltoken.SQLite.Next(query, first.End); ok; t, ok = sqltoken.SQLite.Next(query, t.End) {
		if ended && !t.Is(";") {
			return fmt.Errorf("checking the statement: there is more after its ';'; run one statement at a time")
		}
		ended = ended || t.Is(";")
		if explain { // EXPLAIN of a PRAGMA or ATTACH compiles it
			switch {
			case t.Is("QUERY", "PLAN"):
			case t.Is("SELECT", "WITH", "VALUES"):
				explain = false
			default:
				return fmt.Errorf("checking the statement: EXPLAIN is followed by %.20q; only SELECT, WITH and VALUES can be explained", query[t.Start:t.End])
			}
		}
	}
	return nil
}
