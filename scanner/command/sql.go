package command

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command/sqlread"
	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/sqltoken"
)

// sqlStatements splits a text into statements and these into tokens.
func sqlStatements(text string) (list [][]sqltoken.Token) {
	var tokens []sqltoken.Token
	for t, ok := sqltoken.Any.Next(text, 0); ok; t, ok = sqltoken.Any.Next(text, t.End) {
		switch {
		case !t.Is(";"):
			tokens = append(tokens, t)
		case len(tokens) > 0:
			list, tokens = append(list, tokens), nil
		}
	}
	if len(tokens) > 0 {
		list = append(list, tokens)
	}
	return list
}

// judgeSQL judges SQL statements. ok is false where the text is none: its first statement
// begins with no verb of SQL or, when strict, does not go on as one does, as in "delete the file".
func judgeSQL(text string, strict bool) (v verdict, ok bool) {
	if !beginsSQL(text) {
		return verdict{}, false
	}
	v.class = ReadOnly
	for _, s := range sqlStatements(text) {
		if s[0].Is("BEGIN", "COMMIT", "END", "START", "ROLLBACK") && (len(s) == 1 || len(s) == 2 && s[1].Is("TRANSACTION", "WORK")) {
			ok = ok || !strict
			continue
		}
		w, known := judgeStatement(s, strict)
		if !known && !ok {
			return verdict{}, false
		}
		if ok = true; !known {
			w = unknown("a statement of SQL is not known")
		}
		if contains(s, `\`) {
			w = worse(w, unknown("a command of the client stands among the SQL"))
		}
		v = worse(v, w)
	}
	return v, ok
}

// beginsSQL reports whether a text begins as SQL may. Most lines do not, and no more of them is read.
func beginsSQL(text string) bool {
	for t, ok := sqltoken.Any.Next(text, 0); ok; t, ok = sqltoken.Any.Next(text, t.End) {
		if !t.Is(";", "(") {
			return t.Kind == sqltoken.Word && sqlStarts.HasString(t.Text)
		}
	}
	return true
}

// sqlStarts are the verbs that judgeStatement knows.
var sqlStarts = text.Words(`SELECT VALUES TABLE FROM WITH SUMMARIZE BEGIN COMMIT ROLLBACK END START SAVEPOINT RELEASE SHOW DESCRIBE DESC USE HELP EXPLAIN PRAGMA
	CHECKPOINT ANALYZE SET RESET PREPARE DECLARE LOCK UNLOCK FETCH CLOSE DEALLOCATE NOTIFY LISTEN DISCARD DROP TRUNCATE DELETE UPDATE INSERT REPLACE
	MERGE UPSERT CREATE ALTER GRANT REVOKE EXPORT IMPORT COPY UNLOAD CALL EXEC EXECUTE DO ATTACH DETACH INSTALL LOAD VACUUM REINDEX OPTIMIZE REFRESH
	COMMENT RENAME CLUSTER HANDLER SHUTDOWN KILL FLUSH PURGE UNDROP`)

// worse returns the verdict with the higher class, and that it writes if one of them does.
func worse(v, w verdict) verdict {
	if severity(w.class) > severity(v.class) {
		v, w = w, v
	}
	if v.write == "" {
		v.write = w.write
	}
	return v
}

// sqlObjects are the kinds of things that CREATE, DROP and ALTER are about.
var sqlObjects = text.Words(`aggregate cast cluster collation collection column constraint database dictionary directory domain event extension
	external foreign function global graph group index keyspace language login macro materialized operator or owned package partition
	pipe policy procedure profile publication role rule schema secret sequence server stage stream subscription synonym system table
	tablespace task temp temporary trigger type unique unlogged user view virtual warehouse clustered nonclustered bitmap fulltext recursive if`)

// judgeStatement judges one statement.
func judgeStatement(s []sqltoken.Token, strict bool) (verdict, bool) {
	for len(s) > 0 && s[0].Is("(") {
		s = s[1:]
	}
	if len(s) == 0 || s[0].Kind != sqltoken.Word || !sqlStarts.HasString(s[0].Text) {
		return verdict{}, false
	}
	next := func(keywords ...string) bool { return len(s) > 1 && s[1].Is(keywords...) }
	named := len(s) > 1 && (s[1].Kind == sqltoken.Word || s[1].Kind == sqltoken.Name)
	object := len(s) > 2 && s[1].Kind == sqltoken.Word && sqlObjects.HasFoldString(s[1].Text)
	writes := func(v verdict, shape bool) (verdict, bool) {
		v.write = scanner.DatabaseWrite
		return v, shape || !strict
	}
	changes := func(what string) verdict { return mutate("it " + what) }
	switch verb := s[0].Text; verb {
	case "SELECT", "VALUES", "TABLE", "FROM", "WITH", "SUMMARIZE":
		return judgeQuery(s), !strict || sqlQuery(s)
	case "BEGIN", "COMMIT", "ROLLBACK", "END", "START", "SAVEPOINT", "RELEASE":
		if sqlread.Transaction(s) {
			return verdict{class: ReadOnly}, !strict
		}
		return unknown("it does more than begin or end a transaction"), !strict
	case "SHOW", "DESCRIBE", "DESC", "USE", "HELP":
		if contains(s, "INTO", "(") {
			return unknown("it is not known to only show"), !strict
		}
		return verdict{class: ReadOnly}, !strict
	case "EXPLAIN":
		return judgeExplain(s[1:])
	case "PRAGMA":
		if slices.ContainsFunc(s, func(t sqltoken.Token) bool { return t.Is("=") }) {
			return writes(changes("changes a setting of the database"), true)
		}
		if !sqlread.Pragma(s) {
			return verdict{class: Unknown, write: scanner.DatabaseWrite, reason: "the pragma is not known to only read"}, len(s) > 1
		}
		return verdict{class: ReadOnly}, len(s) > 1
	case "CHECKPOINT", "ANALYZE":
		return writes(changes("writes what the database keeps"), false)
	case "SET", "RESET":
		if next("GLOBAL", "PERSIST", "PERSIST_ONLY", "MASTER", "BINLOG") {
			return writes(changes("changes settings of the database"), true)
		}
		return mutate("it changes the session"), !strict
	case "PREPARE":
		if i := slices.IndexFunc(s, func(t sqltoken.Token) bool { return t.Is("AS", "FROM") }); i > 0 {
			if v, ok := judgeStatement(s[i+1:], true); ok {
				return v, true
			}
		}
		return unknown("it prepares a statement that is not known"), !strict
	case "DECLARE", "LOCK", "UNLOCK", "FETCH", "CLOSE", "DEALLOCATE", "NOTIFY", "LISTEN", "DISCARD":
		return mutate("it changes the session"), !strict
	case "DROP":
		return writes(dangerous(Erase, "it drops what the database holds"), object)
	case "TRUNCATE":
		return writes(dangerous(Erase, "it deletes all rows of a table"), next("TABLE") || named && len(s) == 2)
	case "DELETE":
		if next("FROM") && filtered(s) {
			return writes(changes("deletes rows"), true)
		}
		return writes(dangerous(Erase, "it deletes all rows of a table"), next("FROM") && len(s) > 2)
	case "UPDATE":
		set := slices.IndexFunc(s, func(t sqltoken.Token) bool { return t.Is("SET") })
		if filtered(s) {
			return writes(changes("changes rows"), set > 1)
		}
		return writes(dangerous(Erase, "it changes all rows of a table"), set > 1 && set+2 < len(s) && contains(s, "="))
	case "INSERT", "REPLACE", "MERGE", "UPSERT":
		return writes(changes("adds or changes rows"), next("INTO", "OR", "IGNORE", "OVERWRITE"))
	case "CREATE":
		if next("USER", "ROLE", "LOGIN") {
			return writes(dangerous("", "it changes who may do what"), object)
		}
		return writes(changes("creates something in the database"), object)
	case "ALTER":
		if contains(s, "DROP") {
			return writes(dangerous(Erase, "it drops what the database holds"), object)
		}
		if next("USER", "ROLE", "LOGIN") {
			return writes(dangerous("", "it changes who may do what"), object)
		}
		return writes(changes("changes the structure of the database"), object)
	case "GRANT", "REVOKE":
		return writes(dangerous("", "it changes who may do what"), contains(s, "TO", "FROM") && contains(s, "ON", "PRIVILEGES"))
	case "EXPORT", "IMPORT":
		return writes(changes("copies data in or out"), next("DATABASE", "FOREIGN"))
	case "COPY", "UNLOAD":
		if outsideFile(s, "TO") {
			return writes(dangerous(WriteOutsideRoot, "the database writes outside of the root"), true)
		}
		if contains(s, "PROGRAM") {
			return writes(dangerous(RemoteCode, "the database runs a program"), len(s) > 3)
		}
		return writes(changes("copies data in or out"), len(s) > 3 && contains(s[1:], "TO", "FROM"))
	case "CALL", "EXEC", "EXECUTE", "DO":
		if contains(s, "XP_CMDSHELL", "SYS_EXEC", "SYS_EVAL") {
			return writes(dangerous(RemoteCode, "the database runs a program"), true)
		}
		return writes(unknown("it runs a procedure"), named && contains(s, "(") || next("IMMEDIATE"))
	case "ATTACH", "DETACH", "INSTALL", "LOAD", "VACUUM", "REINDEX", "OPTIMIZE", "REFRESH", "COMMENT", "RENAME", "CLUSTER", "HANDLER":
		return writes(changes("changes the database"), next("DATABASE", "DATA", "MATERIALIZED", "TABLE", "ON"))
	case "SHUTDOWN":
		return writes(dangerous(Shutdown, "it stops the database"), false)
	case "KILL":
		return writes(dangerous(CriticalProcess, "it ends a session of the database"), next("QUERY", "CONNECTION"))
	case "FLUSH", "PURGE", "UNDROP":
		return writes(dangerous(Erase, "it discards what the database keeps"), next("TABLES", "LOGS", "BINARY", "PRIVILEGES"))
	}
	return verdict{}, false
}

// maxClause is how many tokens of a statement within a query are looked at.
const maxClause = 500

// judgeQuery judges a statement that reads, unless a part of it or a function that it calls writes.
func judgeQuery(s []sqltoken.Token) verdict {
	for i, t := range s {
		if t.Kind != sqltoken.Word || i == 0 {
			continue
		}
		rest := s[i:]
		switch {
		case s[0].Text == "WITH" && t.Is("INSERT", "DELETE", "UPDATE", "MERGE", "REPLACE") && !rest[min(1, len(rest)-1)].Is("(", ",", ")"):
			if v, ok := judgeStatement(rest[:min(len(rest), maxClause)], true); ok {
				return v
			}
		case t.Is("INTO") && (outsideFile(rest, "OUTFILE") || outsideFile(rest, "DUMPFILE")):
			return verdict{class: Dangerous, category: WriteOutsideRoot, write: scanner.DatabaseWrite, reason: "the database writes outside of the root"}
		case t.Is("INTO") && s[0].Is("SELECT", "WITH") && len(rest) > 1 && !rest[1].Is("@", ":"):
			return verdict{class: Mutate, write: scanner.DatabaseWrite, reason: "the query writes a table or file"}
		case len(rest) > 1 && rest[1].Is("(") && t.Is("XP_CMDSHELL", "SYS_EXEC", "SYS_EVAL", "LOAD_EXTENSION"):
			return verdict{class: Dangerous, category: RemoteCode, write: scanner.DatabaseWrite, reason: "the database runs a program"}
		case len(rest) > 1 && rest[1].Is("(") && sqlEffects.HasFoldString(t.Text):
			return verdict{class: Unknown, write: scanner.DatabaseWrite, reason: "the query calls a function that does more than read"}
		}
	}
	if reason := sqlread.Doubt(s); reason != "" {
		return unknown(reason) // which is no write: most functions that are not known only compute
	}
	return verdict{class: ReadOnly}
}

// sqlEffects are functions of databases that change something or run commands.
var sqlEffects = text.Words(`pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile lo_import lo_export lo_unlink dblink_exec
	dblink load_extension writefile setval nextval xp_cmdshell sys_exec sys_eval pg_drop_replication_slot query_to_xml edit`)

// sqlQuery reports whether a statement goes on as a query does and prose does not.
func sqlQuery(s []sqltoken.Token) bool {
	switch s[0].Text {
	case "SELECT":
		return len(s) > 1 && (contains(s, "FROM", "*", "(", ",") || s[1].Kind == sqltoken.Literal) && !s[len(s)-1].Is("?")
	case "WITH":
		for i := 2; i+1 < len(s); i++ {
			if s[i].Is("AS") && (s[i+1].Is("(") || i+2 < len(s) && s[i+1].Is("MATERIALIZED", "NOT")) {
				return true
			}
		}
		return false
	case "VALUES":
		return len(s) > 1 && s[1].Is("(")
	}
	return len(s) == 2 && s[0].Text == "TABLE"
}

// sqlVerbs are the verbs of statements that can be explained.
var sqlVerbs = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "REPLACE", "CREATE", "VALUES", "DECLARE", "EXECUTE", "REFRESH"}

// judgeExplain judges EXPLAIN, which runs the statement only to measure it.
func judgeExplain(s []sqltoken.Token) (verdict, bool) {
	depth := 0
	for i, t := range s {
		switch {
		case t.Is("("):
			depth++
		case t.Is(")"):
			depth--
		case t.Is("ANALYZE", "ANALYSE") && (i == 0 || depth > 0 || s[0].Is("VERBOSE")):
			if j := slices.IndexFunc(s[i:], func(t sqltoken.Token) bool { return t.Is(sqlVerbs...) }); j > 0 {
				if v, ok := judgeStatement(s[i+j:], true); ok {
					return v, true
				}
			}
			return unknown("what is measured is not known"), true
		case depth == 0 && t.Is(sqlVerbs...):
			if t.Is("SELECT", "WITH", "VALUES") && sqlread.Doubt(s[i:]) != "" { // a function may be called to plan
				return unknown("a function is called that is not known to only read"), true
			}
			return verdict{class: ReadOnly}, true
		}
	}
	return verdict{class: ReadOnly}, false
}

// filtered reports whether a statement has a condition that is not always true.
func filtered(s []sqltoken.Token) bool {
	i := slices.IndexFunc(s, func(t sqltoken.Token) bool { return t.Is("WHERE", "LIMIT", "USING") })
	if i < 0 {
		return false
	}
	cond := s[i+1:]
	if n := len(cond); n > 0 && cond[n-1].Is(")") && !contains(cond, "(") {
		cond = cond[:n-1]
	}
	switch len(cond) {
	case 0:
		return false
	case 1:
		return !cond[0].Is("TRUE") && cond[0].Text != "1"
	case 3:
		return !cond[1].Is("=") || cond[0].Text != cond[2].Text
	}
	return true
}

func contains(s []sqltoken.Token, keywords ...string) bool {
	return slices.ContainsFunc(s, func(t sqltoken.Token) bool { return t.Is(keywords...) })
}

// outsideFile reports whether the name of a file outside of the root follows the keyword.
func outsideFile(s []sqltoken.Token, keyword string) bool {
	for i := 1; i < len(s); i++ {
		if s[i-1].Is(keyword) && (s[i].Kind == sqltoken.Literal || s[i].Kind == sqltoken.Name) && outside(strings.Trim(s[i].Text, `'"`)) {
			return true
		}
	}
	return false
}
