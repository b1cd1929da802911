package command

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// judgeSQL judges SQL statements. ok is false where the text is none: its first statement
// begins with no verb of SQL or, when strict, does not go on as one does, as in "delete the file".
func judgeSQL(text string, strict bool) (v verdict, ok bool) {
	v.class = ReadOnly
	for _, s := range sqlStatements(text) {
		if s[0].is("BEGIN", "COMMIT", "END", "START", "ROLLBACK") && (len(s) == 1 || len(s) == 2 && s[1].is("TRANSACTION", "WORK")) {
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
func judgeStatement(s []sqlToken, strict bool) (verdict, bool) {
	for len(s) > 0 && s[0].is("(") {
		s = s[1:]
	}
	if len(s) == 0 || s[0].kind != sqlWord {
		return verdict{}, false
	}
	next := func(keywords ...string) bool { return len(s) > 1 && s[1].is(keywords...) }
	named := len(s) > 1 && (s[1].kind == sqlWord || s[1].kind == sqlName)
	object := len(s) > 2 && s[1].kind == sqlWord && sqlObjects.HasFoldString(s[1].text)
	writes := func(v verdict, shape bool) (verdict, bool) {
		v.write = scanner.DatabaseWrite
		return v, shape || !strict
	}
	changes := func(what string) verdict { return mutate("it " + what) }
	switch verb := s[0].text; verb {
	case "SELECT", "VALUES", "TABLE", "FROM", "WITH", "PIVOT", "SUMMARIZE":
		return judgeQuery(s), !strict || sqlQuery(s)
	case "SHOW", "DESCRIBE", "DESC", "USE", "BEGIN", "COMMIT", "ROLLBACK", "END", "START", "SAVEPOINT", "RELEASE", "HELP":
		return verdict{class: ReadOnly}, !strict
	case "EXPLAIN":
		return judgeExplain(s[1:])
	case "PRAGMA":
		if slices.ContainsFunc(s, func(t sqlToken) bool { return t.is("=") }) {
			return writes(changes("changes a setting of the database"), true)
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
		if i := slices.IndexFunc(s, func(t sqlToken) bool { return t.is("AS", "FROM") }); i > 0 {
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
		set := slices.IndexFunc(s, func(t sqlToken) bool { return t.is("SET") })
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
func judgeQuery(s []sqlToken) verdict {
	for i, t := range s {
		if t.kind != sqlWord || i == 0 {
			continue
		}
		rest := s[i:]
		switch {
		case s[0].text == "WITH" && t.is("INSERT", "DELETE", "UPDATE", "MERGE", "REPLACE") && !rest[min(1, len(rest)-1)].is("(", ",", ")"):
			if v, ok := judgeStatement(rest[:min(len(rest), maxClause)], true); ok {
				return v
			}
		case t.is("INTO") && (outsideFile(rest, "OUTFILE") || outsideFile(rest, "DUMPFILE")):
			return verdict{class: Dangerous, category: WriteOutsideRoot, write: scanner.DatabaseWrite, reason: "the database writes outside of the root"}
		case t.is("INTO") && s[0].is("SELECT", "WITH") && len(rest) > 1 && !rest[1].is("@", ":"):
			return verdict{class: Mutate, write: scanner.DatabaseWrite, reason: "the query writes a table or file"}
		case len(rest) > 1 && rest[1].is("(") && t.is("XP_CMDSHELL", "SYS_EXEC", "SYS_EVAL", "LOAD_EXTENSION"):
			return verdict{class: Dangerous, category: RemoteCode, write: scanner.DatabaseWrite, reason: "the database runs a program"}
		case len(rest) > 1 && rest[1].is("(") && sqlEffects.HasFoldString(t.text):
			return verdict{class: Unknown, write: scanner.DatabaseWrite, reason: "the query calls a function that does more than read"}
		}
	}
	return verdict{class: ReadOnly}
}

// sqlEffects are functions of databases that change something or run commands.
var sqlEffects = text.Words(`pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile lo_import lo_export lo_unlink dblink_exec
	dblink load_extension writefile setval nextval xp_cmdshell sys_exec sys_eval pg_drop_replication_slot query_to_xml edit`)

// sqlQuery reports whether a statement goes on as a query does and prose does not.
func sqlQuery(s []sqlToken) bool {
	switch s[0].text {
	case "SELECT":
		return len(s) > 1 && (contains(s, "FROM", "*", "(", ",") || s[1].kind == sqlString) && !s[len(s)-1].is("?")
	case "WITH":
		for i := 2; i+1 < len(s); i++ {
			if s[i].is("AS") && (s[i+1].is("(") || i+2 < len(s) && s[i+1].is("MATERIALIZED", "NOT")) {
				return true
			}
		}
		return false
	case "VALUES":
		return len(s) > 1 && s[1].is("(")
	}
	return len(s) == 2 && s[0].text == "TABLE"
}

// sqlVerbs are the verbs of statements that can be explained.
var sqlVerbs = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "REPLACE", "CREATE", "VALUES", "DECLARE", "EXECUTE", "REFRESH"}

// judgeExplain judges EXPLAIN, which runs the statement only to measure it.
func judgeExplain(s []sqlToken) (verdict, bool) {
	depth := 0
	for i, t := range s {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is("ANALYZE", "ANALYSE") && (i == 0 || depth > 0 || s[0].is("VERBOSE")):
			if j := slices.IndexFunc(s[i:], func(t sqlToken) bool { return t.is(sqlVerbs...) }); j > 0 {
				if v, ok := judgeStatement(s[i+j:], true); ok {
					return v, true
				}
			}
			return unknown("what is measured is not known"), true
		case depth == 0 && t.is(sqlVerbs...):
			return verdict{class: ReadOnly}, true
		}
	}
	return verdict{class: ReadOnly}, false
}

// filtered reports whether a statement has a condition that is not always true.
func filtered(s []sqlToken) bool {
	i := slices.IndexFunc(s, func(t sqlToken) bool { return t.is("WHERE", "LIMIT", "USING") })
	if i < 0 {
		return false
	}
	cond := s[i+1:]
	if n := len(cond); n > 0 && cond[n-1].is(")") && !contains(cond, "(") {
		cond = cond[:n-1]
	}
	switch len(cond) {
	case 0:
		return false
	case 1:
		return !cond[0].is("TRUE") && cond[0].text != "1"
	case 3:
		return !cond[1].is("=") || cond[0].text != cond[2].text
	}
	return true
}

func contains(s []sqlToken, keywords ...string) bool {
	return slices.ContainsFunc(s, func(t sqlToken) bool { return t.is(keywords...) })
}

// outsideFile reports whether the name of a file outside of the root follows the keyword.
func outsideFile(s []sqlToken, keyword string) bool {
	for i := 1; i < len(s); i++ {
		if s[i-1].is(keyword) && (s[i].kind == sqlString || s[i].kind == sqlName) && outside(strings.Trim(s[i].text, `'"`)) {
			return true
		}
	}
	return false
}
