package sqlite

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/svc-gateway/svc/scanner/sqltoken"
)

// FuzzCheckStatement: a statement that passes changes nothing, even on a connection without the
// fence. Only WITH may: SQLite has WITH … DELETE, which the fence holds.
func FuzzCheckStatement(f *testing.F) {
	for _, q := range []string{
		"SELECT 1", "SELECT ';' ; -- x", "select /* ; */ 1;;", "EXPLAIN QUERY PLAN SELECT 1", "VALUES (1)",
		"SELECT 1; DELETE FROM t", "SELECT 'a''; DELETE FROM t", "SELECT [a];DELETE FROM t", "SELECT \"a\"\"\"; DELETE FROM t",
		"SELECT `a; DELETE FROM t", "SELECT 1 -- \r; DELETE FROM t\n; DELETE FROM t", "SELECT /* */ 1 /*/ ; DELETE FROM t",
		"SELECT 1\v; DELETE FROM t", "EXPLAIN DELETE FROM t", "\ufeffSELECT 1; DELETE FROM t", "SELECT x'00';DELETE FROM t", "SELECT :a;DELETE FROM t",
	} {
		f.Add(q)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		f.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	f.Cleanup(func() {
		if err := db.Close(); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, query string) {
		if checkStatement(query) != nil {
			return
		}
		if first, _ := sqltoken.SQLite.Next(query, 0); first.Is("WITH") {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.ExecContext(t.Context(), `DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT 1 AS n`); err != nil {
			t.Fatal(err)
		}
		// An interrupted or wrong statement is fine.
		_, _ = conn.ExecContext(ctx, query)
		var rows, schema, databases int
		err = conn.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM sqlite_master), (SELECT count(*) FROM pragma_database_list)`).Scan(&rows, &schema, &databases)
		if err != nil || rows != 1 || schema != 1 || databases > 2 { // main and temp
			t.Fatalf("%q: got %d rows, %d tables, %d databases, %v; want 1, 1 and 1", query, rows, schema, databases, err)
		}
	})
}
