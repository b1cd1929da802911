package audit

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"testing"
	"time"

	"github.com/gowebpki/jcs"

	"github.com/svc-gateway/svc/scanner/sqltoken"
)

// FuzzCanonicalRecord: whatever text an event holds, its record is what an RFC 8785 implementation
// makes of it, and decodes to the same text.
func FuzzCanonicalRecord(f *testing.F) {
	f.Add("", "", 0.0)
	f.Add("plain", "\"\\\b\t\n\f\r\x00\x1f\x7f/<>&", 1e-7)
	f.Add("\u2028\u2029\U0001F600\uFFFD\ufeff", "bad \xff\xc0\x80 utf-8 \xed\xa0\x80", 1e21)
	f.Fuzz(func(t *testing.T, a, b string, d float64) {
		e := Event{Type: Request, User: a, Input: b, Reasons: []string{a, b}, Duration: d}
		if err := prepare(&e, "node", time.Unix(0, 0)); err != nil {
			if validSeconds(d) {
				t.Fatal(err)
			}
			return
		}
		record := CanonicalRecord(e)
		canonical, err := jcs.Transform(record)
		if err != nil || !bytes.Equal(canonical, record) {
			t.Fatalf("%v\n got %s\nwant %s", err, record, canonical)
		}
		var back Event
		if err := json.Unmarshal(record, &back); err != nil {
			t.Fatal(err)
		}
		back.Hash = e.Hash
		if err := Verify(back); err != nil || back.User != e.User || back.Input != e.Input {
			t.Fatalf("%v\n got %+v\nwant %+v", err, back, e)
		}
	})
}

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
