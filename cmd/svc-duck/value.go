//go:build cgo && linux

package main

import (
	"bytes"
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"
)

// exact is the largest whole number that every reader of JSON keeps exactly.
const exact = 1 << 53

// appendRow writes a row as a JSON array.
func appendRow(b []byte, types []duckdb.TypeInfo, values []driver.Value) []byte {
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, types[i], v)
	}
	return append(b, ']')
}

// appendValue writes a value as JSON. Numbers that JSON readers would round are strings: whole ones
// beyond 2^53 and all decimals. Timestamps are RFC 3339 in UTC, blobs base64, intervals ISO 8601. A
// map with text as keys is an object, another one an array of its pairs. t may be nil: then the value
// shows its form itself.
func appendValue(b []byte, t duckdb.TypeInfo, v any) []byte {
	kind := duckdb.TYPE_INVALID
	if t != nil {
		kind = t.InternalType()
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int8, int16, int32:
		return fmt.Appendf(b, "%d", v)
	case uint8, uint16, uint32:
		return fmt.Appendf(b, "%d", v)
	case int64:
		return appendWhole(b, big.NewInt(v))
	case uint64:
		return appendWhole(b, new(big.Int).SetUint64(v))
	case *big.Int:
		return appendWhole(b, v)
	case float32:
		return appendFloat(b, float64(v), 32)
	case float64:
		return appendFloat(b, v, 64)
	case string:
		return appendText(b, v)
	case []byte:
		return appendBytes(b, kind, v)
	case duckdb.UUID:
		return appendText(b, v.String())
	case time.Time:
		return appendText(b, timeText(kind, v))
	case duckdb.Interval:
		return appendText(b, intervalText(v))
	case duckdb.Decimal:
		return append(append(append(b, '"'), decimalText(v)...), '"')
	case duckdb.Bit:
		return appendText(b, v.String())
	case []any:
		return appendList(b, t, v)
	case map[string]any:
		return appendStruct(b, t, v)
	case duckdb.OrderedMap:
		return appendMap(b, t, v)
	case duckdb.Union:
		b = append(appendText(append(b, '{'), v.Tag), ':')
		return append(appendValue(b, memberType(t, v.Tag), v.Value), '}')
	}
	text, err := json.Marshal(v)
	if err != nil {
		return appendText(b, fmt.Sprint(v))
	}
	return append(b, text...)
}

// decimalText is a decimal with all the digits that its type has behind the point.
func decimalText(d duckdb.Decimal) string {
	digits := new(big.Int).Abs(d.Value).String()
	if missing := int(d.Scale) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	if d.Scale > 0 {
		point := len(digits) - int(d.Scale)
		digits = digits[:point] + "." + digits[point:]
	}
	if d.Value.Sign() < 0 {
		digits = "-" + digits
	}
	return digits
}

func appendWhole(b []byte, n *big.Int) []byte {
	if n.CmpAbs(big.NewInt(exact)) > 0 {
		return append(n.Append(append(b, '"'), 10), '"')
	}
	return n.Append(b, 10)
}

// appendFloat writes what JSON has no number for as text.
func appendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	form := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(b, f, form, -1, bits)
}

// appendText writes a string, without the escapes that only HTML needs.
func appendText(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil { // no string fails
		return append(b, `""`...)
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

func appendBytes(b []byte, kind duckdb.Type, v []byte) []byte {
	if kind == duckdb.TYPE_UUID && len(v) == len(duckdb.UUID{}) {
		u := duckdb.UUID(v)
		return appendText(b, u.String())
	}
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), v), '"')
}

// timeText is a point in time in the form that its type has.
func timeText(kind duckdb.Type, t time.Time) string {
	switch kind {
	case duckdb.TYPE_DATE:
		return t.Format(time.DateOnly)
	case duckdb.TYPE_TIME:
		return t.Format("15:04:05.999999")
	case duckdb.TYPE_TIME_TZ:
		return t.Format("15:04:05.999999Z07:00")
	}
	switch t.UnixMicro() {
	case math.MaxInt64:
		return "infinity"
	case -math.MaxInt64:
		return "-infinity"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// intervalText is an interval as ISO 8601 has it: P2M3DT4.5S. Each of its parts has a sign of its own.
func intervalText(i duckdb.Interval) string {
	s := "P"
	if i.Months != 0 {
		s += fmt.Sprintf("%dM", i.Months)
	}
	if i.Days != 0 {
		s += fmt.Sprintf("%dD", i.Days)
	}
	if i.Micros != 0 || s == "P" {
		sign, whole := "", new(big.Int).Abs(big.NewInt(i.Micros))
		if i.Micros < 0 {
			sign = "-"
		}
		rest := new(big.Int)
		whole.QuoRem(whole, big.NewInt(1_000_000), rest)
		seconds := whole.String()
		if rest.Sign() != 0 {
			seconds += "." + strings.TrimRight(fmt.Sprintf("%06d", rest.Int64()), "0")
		}
		s += "T" + sign + seconds + "S"
	}
	return s
}

func appendList(b []byte, t duckdb.TypeInfo, items []any) []byte {
	var item duckdb.TypeInfo
	if t != nil {
		switch d := t.Details().(type) {
		case *duckdb.ListDetails:
			item = d.Child
		case *duckdb.ArrayDetails:
			item = d.Child
		}
	}
	b = append(b, '[')
	for i, v := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, item, v)
	}
	return append(b, ']')
}

// appendStruct writes the fields in the order of the type, and by name where it is not known.
func appendStruct(b []byte, t duckdb.TypeInfo, fields map[string]any) []byte {
	var names []string
	types := map[string]duckdb.TypeInfo{}
	if t != nil {
		if d, ok := t.Details().(*duckdb.StructDetails); ok {
			for _, e := range d.Entries {
				names, types[e.Name()] = append(names, e.Name()), e.Info()
			}
		}
	}
	if len(names) != len(fields) {
		names = names[:0]
		for name := range fields {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		b = appendValue(b, types[name], fields[name])
	}
	return append(b, '}')
}

func appendMap(b []byte, t duckdb.TypeInfo, m duckdb.OrderedMap) []byte {
	var key, value duckdb.TypeInfo
	if t != nil {
		if d, ok := t.Details().(*duckdb.MapDetails); ok {
			key, value = d.Key, d.Value
		}
	}
	keys, values := m.Keys(), m.Values()
	texts := !slices.ContainsFunc(keys, func(k any) bool { _, ok := k.(string); return !ok })
	open, end := byte('['), byte(']')
	if texts {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		if texts {
			b = append(appendValue(b, key, k), ':')
			b = appendValue(b, value, values[i])
			continue
		}
		b = append(appendValue(append(b, '['), key, k), ',')
		b = append(appendValue(b, value, values[i]), ']')
	}
	return append(b, end)
}

func memberType(t duckdb.TypeInfo, tag string) duckdb.TypeInfo {
	if t != nil {
		if d, ok := t.Details().(*duckdb.UnionDetails); ok {
			for _, m := range d.Members {
				if m.Name == tag {
					return m.Type
				}
			}
		}
	}
	return nil
}
