package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/internal/duckwire"
)

const (
	databaseRows = 1_000_000
	aggregate    = "SELECT day, sum(amount) AS total FROM sales GROUP BY day ORDER BY day LIMIT 5"
)

// database measures the analytical database: an import of a million rows, a snapshot of them while
// queries go on, and a small aggregate, with queries in the sandbox, as the service asks. A binary without
// svc-duck beside it is not measured.
func (b *bench) database(ctx context.Context) (err error) {
	helper := filepath.Join(filepath.Dir(b.site.binary), "svc-duck")
	if _, err := os.Stat(helper); err != nil {
		b.progress("there is no %s: nothing to measure", helper)
		return nil
	}
	dir, err := b.site.folder("database")
	if err != nil {
		return err
	}
	box, err := sandbox.Open(ctx, sandbox.Config{Helper: filepath.Join(filepath.Dir(b.site.binary), "svc-sandbox")})
	if err != nil {
		return err
	}
	defer box.Close()
	db := analytics.Open(analytics.Config{
		Helper: helper, Folder: filepath.Join(dir, "db"), Snapshots: filepath.Join(dir, "sn"), Socket: filepath.Join(dir, "s"), Lock: filepath.Join(dir, "l"),
		MaxAge: time.Hour, Time: time.Minute, Memory: 512 << 20, Threads: 2, Run: analytics.RunIn(box),
	})
	if err := db.Use(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var imports, snapshots, queries, reads []time.Duration
	for range b.plan.rounds {
		took, err := loadSales(ctx, db, duckwire.ModeReplace)
		if err != nil {
			return err
		}
		imports = append(imports, took)
		if len(snapshots) == 0 { // so that there is something to read while the next one is made
			if err := db.Publish(ctx); err != nil {
				return err
			}
			if _, err := loadSales(ctx, db, duckwire.ModeReplace); err != nil {
				return err
			}
		}
		took, during, err := publish(ctx, db)
		if err != nil {
			return err
		}
		snapshots, reads = append(snapshots, took), append(reads, during)
		for range 10 {
			took, err := timed(func() error { return aggregated(ctx, db) })
			if err != nil {
				return err
			}
			queries = append(queries, took)
		}
	}
	b.report.Database = &databaseFigures{
		Rows: databaseRows, Import: median(imports), Snapshot: median(snapshots), Query: median(queries), SlowestRead: maximum(reads),
	}
	return nil
}

func timed(f func() error) (time.Duration, error) {
	begun := time.Now()
	err := f()
	return time.Since(begun), err
}

func loadSales(ctx context.Context, db *analytics.DB, mode string) (time.Duration, error) {
	return timed(func() error {
		r, w := io.Pipe()
		go func() { _ = w.CloseWithError(writeSales(w)) }()
		done, err := db.Import(ctx, analytics.File{Name: "sales.csv", Table: "sales", Format: duckwire.FormatCSV, Mode: mode}, r)
		if err == nil && done.Rows != databaseRows {
			err = fmt.Errorf("importing: got %d rows, want %d", done.Rows, databaseRows)
		}
		return err
	})
}

func writeSales(w io.Writer) error {
	text := []byte("id,customer,amount,day\n")
	for i := range databaseRows {
		text = fmt.Appendf(text, "%d,customer %d,%d.%02d,2026-01-%02d\n", i, i*7919%100_003, i%1000, i%100, i%28+1)
		if len(text) > 64<<10 {
			if _, err := w.Write(text); err != nil {
				return err
			}
			text = text[:0]
		}
	}
	_, err := w.Write(text)
	return err
}

// publish makes a snapshot while queries go on, and returns how long it and the slowest of them took.
func publish(ctx context.Context, db *analytics.DB) (took, slowest time.Duration, err error) {
	published := make(chan error, 1)
	go func() {
		var err error
		took, err = timed(func() error { return db.Publish(ctx) })
		published <- err
	}()
	for {
		read, err := timed(func() error { return aggregated(ctx, db) })
		slowest = max(slowest, read)
		select {
		case done := <-published:
			return took, slowest, errors.Join(err, done)
		default:
			if err != nil {
				return 0, 0, errors.Join(err, <-published)
			}
		}
	}
}

// aggregated asks for the aggregate and checks the answer.
func aggregated(ctx context.Context, db *analytics.DB) error {
	a, err := db.Query(ctx, analytics.Query{SQL: aggregate, Rows: 10, Bytes: 10 << 10, MaxAge: time.Hour})
	if err == nil && (len(a.Rows) != 5 || a.Columns[0].Type != "DATE") {
		err = fmt.Errorf("asking: got %d rows of %v", len(a.Rows), a.Columns)
	}
	return err
}
