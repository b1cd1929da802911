//go:build cgo && linux

package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// maxMessages is how many bytes of messages are taken at once.
const maxMessages = 256 << 20

// messageColumns are those of a table of messages.
var messageColumns = []duckwire.Column{
	{Name: "received", Type: "TIMESTAMP"},
	{Name: "sent", Type: "TIMESTAMP"},
	{Name: "sender", Type: "VARCHAR"},
	{Name: "transport", Type: "VARCHAR"},
	{Name: "format", Type: "VARCHAR"},
	{Name: "facility", Type: "VARCHAR"},
	{Name: "severity", Type: "INTEGER"},
	{Name: "level", Type: "VARCHAR"},
	{Name: "host", Type: "VARCHAR"},
	{Name: "app", Type: "VARCHAR"},
	{Name: "process", Type: "VARCHAR"},
	{Name: "id", Type: "VARCHAR"},
	{Name: "data", Type: "VARCHAR"},
	{Name: "text", Type: "VARCHAR"},
	{Name: "truncated", Type: "BOOLEAN"},
	{Name: "injection", Type: "VARCHAR"},
}

// rowOf is a message as the columns have it.
func rowOf(m duckwire.Message) []driver.Value {
	var sent, severity driver.Value
	if m.Sent != nil {
		sent = m.Sent.UTC()
	}
	if m.Severity != nil {
		severity = int32(*m.Severity)
	}
	return []driver.Value{
		m.Received.UTC(), sent, m.Sender, m.Transport, m.Format, m.Facility, severity, m.Level, m.Host, m.App, m.Process, m.ID, m.Data, m.Text, m.Truncated, m.Injection,
	}
}

// addMessages adds messages to a table and removes those that are older than keep.
func (w *writer) addMessages(ctx context.Context, table string, keep time.Duration, body io.Reader) (done duckwire.Added, err error) {
	if !duckwire.TableName.MatchString(table) {
		return done, badTable(table)
	}
	messages, err := readMessages(body)
	if err != nil {
		return done, err
	}
	w.change.Lock()
	defer w.change.Unlock()
	err = w.transact(ctx, func(conn *sql.Conn, tx *sql.Tx) error {
		if err := makeMessageTable(ctx, tx, table); err != nil {
			return err
		}
		if err := appendMessages(conn, table, messages); err != nil {
			return err
		}
		done.Rows = int64(len(messages))
		if keep == 0 {
			return nil
		}
		result, err := tx.ExecContext(ctx, "DELETE FROM "+name(table)+" WHERE received < ?", time.Now().UTC().Add(-keep))
		if err != nil {
			return fmt.Errorf("removing old messages: %w", err)
		}
		done.Removed, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return duckwire.Added{}, err
	}
	w.changed()
	return done, nil
}

func readMessages(body io.Reader) (all []duckwire.Message, err error) {
	dec := json.NewDecoder(io.LimitReader(body, maxMessages))
	for {
		var m duckwire.Message
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, duckwire.Faultf(duckwire.CodeBadRequest, "message %d: %v", len(all)+1, err)
		}
		all = append(all, m)
	}
}

// makeMessageTable makes the table where it is not there. One that somebody has imported is left alone.
func makeMessageTable(ctx context.Context, tx *sql.Tx, table string) error {
	exists, err := has(ctx, tx, table)
	if err != nil {
		return err
	}
	if exists {
		there, err := columns(ctx, tx, table)
		if err == nil && !slices.Equal(there, messageColumns) {
			err = duckwire.Faultf(duckwire.CodeExists, "the table %s exists and has other columns than those of messages: choose another one (--table)", table)
		}
		return err
	}
	create := "CREATE TABLE " + name(table) + " ("
	for i, c := range messageColumns {
		if i > 0 {
			create += ", "
		}
		create += name(c.Name) + " " + c.Type
	}
	if _, err := tx.ExecContext(ctx, create+")"); err != nil {
		return fmt.Errorf("making the table: %w", err)
	}
	return nil
}

func appendMessages(conn *sql.Conn, table string, messages []duckwire.Message) error {
	return conn.Raw(func(raw any) error {
		c, ok := raw.(driver.Conn)
		if !ok {
			return fmt.Errorf("got a %T", raw)
		}
		a, err := duckdb.NewAppenderFromConn(c, "", table)
		if err != nil {
			return err
		}
		for _, m := range messages {
			if err := a.AppendRow(rowOf(m)...); err != nil {
				return errors.Join(err, a.Close())
			}
		}
		return a.Close()
	})
}
