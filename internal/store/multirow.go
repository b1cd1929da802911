package store

import (
	"regexp"
	"strings"
)

// rowsPerInsert is how many rows one INSERT adds. It finds their places in the indexes at once: a
// row with two indexes takes 5.5 µs instead of 7. The driver looks for each value among all values
// of the statement, so more rows would cost more again.
const rowsPerInsert = 8

// runOps runs operations. Their own errors are kept in them; the error that is returned is the
// storage's and ends the transaction.
func (w *writer) runOps(ops []*op) error {
	for len(ops) > 0 {
		n, err := w.runFirst(ops)
		if err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}

// runFirst runs the first of the operations and returns how many. [rowsPerInsert] statements that
// add a row each in the same way run as one; if that fails, each runs by itself.
func (w *writer) runFirst(ops []*op) (n int, err error) {
	switch first := ops[0]; {
	case first.fn != nil:
		return 1, w.runInSavepoint(first)
	case first.stmt == nil:
		return 1, nil
	}
	query, values, n := w.bindAlike(ops)
	defer func() { w.values = clean(values) }()
	if n == rowsPerInsert {
		_, err := w.d.conn.exec(w.multirow[query], values)
		if err == nil || storage(err) != nil {
			return n, storage(err)
		}
	}
	width := len(values) / n
	for i, o := range ops[:n] {
		_, err := w.d.conn.exec(query, values[i*width:(i+1)*width])
		if dead := storage(err); dead != nil {
			return n, dead
		}
		o.err = err
	}
	return n, nil
}

// bindAlike returns the query of the first operation, and the values of the first n, which have
// the same query; n is 1 where there is no statement for several of them.
func (w *writer) bindAlike(ops []*op) (query string, values []any, n int) {
	query, values = ops[0].stmt.Bind(w.values[:0])
	if !w.multiply(query) {
		return query, values, 1
	}
	width := len(values)
	for n = 1; n < min(rowsPerInsert, len(ops)) && ops[n].stmt != nil; n++ {
		q, more := ops[n].stmt.Bind(values)
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

// multiply makes sure that w.multirow has the statement that adds [rowsPerInsert] rows where query
// adds one. It reports false where there is none.
func (w *writer) multiply(query string) bool {
	several, known := w.multirow[query]
	if !known {
		if len(w.multirow) >= maxStatements {
			clear(w.multirow)
		}
		if m := oneRow.FindStringSubmatch(query); m != nil {
			several = query + strings.Repeat(`, `+m[1], rowsPerInsert-1)
		}
		w.multirow[query] = several
	}
	return several != ""
}
