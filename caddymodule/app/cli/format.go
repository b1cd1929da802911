package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Formats are the ways to print the result of a query: table, csv and json.
var Formats = map[string]func(w io.Writer, columns []string, rows [][]any) error{
	"table": func(w io.Writer, columns []string, rows [][]any) error {
		return Table(w, columns, texts(rows))
	},
	"csv": func(w io.Writer, columns []string, rows [][]any) error {
		out := csv.NewWriter(w)
		if err := out.Write(columns); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
		return out.WriteAll(texts(rows))
	},
	"json": func(w io.Writer, columns []string, rows [][]any) error {
		all := make([]json.RawMessage, len(rows))
		for i, row := range rows {
			var err error
			if all[i], err = object(columns, row); err != nil {
				return err
			}
		}
		return JSON(w, all)
	},
}

// object is a row as a JSON object with its columns in their order; of two columns of one name
// the last counts.
func object(columns []string, row []any) (json.RawMessage, error) {
	b := []byte{'{'}
	for i, c := range columns {
		if slices.Contains(columns[i+1:], c) {
			continue
		}
		v := row[i]
		if raw, ok := v.([]byte); ok {
			v = string(raw)
		}
		name, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("writing the result: %w", err)
		}
		value, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("writing the result: %w", err)
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

func texts(rows [][]any) [][]string {
	all := make([][]string, len(rows))
	for i, row := range rows {
		all[i] = make([]string, len(row))
		for j, v := range row {
			switch v := v.(type) {
			case nil:
			case []byte:
				all[i][j] = string(v)
			case float64:
				all[i][j] = strconv.FormatFloat(v, 'f', -1, 64)
			default:
				all[i][j] = fmt.Sprint(v)
			}
		}
	}
	return all
}
