package store

import (
	"regexp"
	"strings"
)

// together is how many rows one INSERT adds, which finds their places in the indexes at once: a row
// with two indexes takes 5.5 µs instead of 7. The driver looks for each value among all those of the
// statement, so more rows cost more again.
const together = 8

// runSeries runs operations. Their own errors are kept in them; the error that is returned is the
// storage's and ends the transaction.
func (w *writer) runSeries(series []*op) error {
	for len(series) > 0 {
		n, err := w.runAlike(series)
		if err != nil {
			return err
		}
		series = series[n:]
	}
	return nil
}

// runAlike runs the first operations of a series and returns how many. [together] statements that
// add a row each in the same way are one, unless that fails: then each is on its own.
func (w *writer) runAlike(series []*op) (n int, err error) {
	switch first := series[0]; {
	case first.fn != nil:
		return 1, w.runInSavepoint(first)
	case first.stmt == nil:
		return 1, nil
	}
	query, values, n := w.bindAlike(series)
	defer func() { w.values = clean(values) }()
	if n == together {
		_, err := w.d.conn.exec(w.several[query], values)
		if err == nil || storage(err) != nil {
			return n, storage(err)
		}
	}
	width := len(values) / n
	for i, o := range series[:n] {
		_, err := w.d.conn.exec(query, values[i*width:(i+1)*width])
		if dead := storage(err); dead != nil {
			return n, dead
		}
		o.err = err
	}
	return n, nil
}

// bindAlike returns the query of the first statement of a series, and the values of the first n,
// which have the same query; n is 1 where there is no statement for several of them.
func (w *writer) bindAlike(series []*op) (query string, values []any, n int) {
	query, values = series[0].stmt.Bind(w.values[:0])
	if !w.multiply(query) {
		return query, values, 1
	}
	width := len(values)
	for n = 1; n < min(together, len(series)) && series[n].stmt != nil; n++ {
		q, more := series[n].stmt.Bind(values)
		if q != query || len(more) != len(values)+width {
			clear(more[len(values):])
			break
		}
		values = more
	}
	return query, values, n
}

// oneRow is an INSERT that fails as a whole, and all of whose parameters are the one row at its end.
var oneRow = regexp.MustCompile(`^INSERT INTO [^?]*\) VALUES (\(\?(?:, ?\?)*\))$`)

// multiply makes sure that w.several has the statement that adds [together] rows where query adds
// one. It reports false where there is none.
func (w *writer) multiply(query string) bool {
	several, known := w.several[query]
	if !known {
		if len(w.several) >= maxStatements {
			clear(w.several)
		}
		if m := oneRow.FindStringSubmatch(query); m != nil {
			several = query + strings.Repeat(`, `+m[1], together-1)
		}
		w.several[query] = several
	}
	return several != ""
}
