package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// answered reads the output of query_database.
func answered(out string) (rows [][]any, ok bool) {
	var doc struct{ Rows [][]any }
	d := json.NewDecoder(strings.NewReader(out))
	d.UseNumber()
	if d.Decode(&doc) != nil || doc.Rows == nil {
		return nil, false
	}
	return doc.Rows, true
}

func tellRowCount(q question, out string) string {
	rows, ok := answered(out)
	if !ok || len(rows) != 1 || len(rows[0]) != 1 {
		return tellOutput(q, out)
	}
	return fmt.Sprintf("The table %s has %v rows.", q.table(), rows[0][0])
}

func tellTables(q question, out string) string {
	rows, ok := answered(out)
	switch {
	case !ok:
		return tellOutput(q, out)
	case len(rows) == 0:
		return "There are no tables: nothing was imported yet."
	}
	var names []string
	for _, r := range rows {
		if len(r) > 0 {
			names = append(names, fmt.Sprint(r[0]))
		}
	}
	return "The tables are: " + strings.Join(names, ", ") + "."
}
