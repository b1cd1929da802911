package settings

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// decode turns a JSON value into words. Where lax is set, numbers and truth values may be
// written as strings, as a placeholder leaves them. An error repeats no object and no list:
// somebody's secret may be in it.
func (f field[T]) decode(raw json.RawMessage, lax bool) ([]string, error) {
	var s string
	isText := json.Unmarshal(raw, &s) == nil && raw[0] == '"'
	shown := string(raw)
	if raw[0] == '{' || raw[0] == '[' {
		shown = "this"
	}
	switch f.kind {
	case kindList, kindNames, kindItems:
		if isText {
			return f.words(s), nil
		}
		var all []string
		if json.Unmarshal(raw, &all) != nil || raw[0] != '[' {
			return nil, fmt.Errorf(`%s is not a list of strings such as ["a", "b"]`, shown)
		}
		return all, nil
	case kindNumber, kindSize:
		if isText && (lax || f.kind == kindSize) {
			return []string{s}, nil
		}
		var n json.Number
		if isText || raw[0] == 'n' || json.Unmarshal(raw, &n) != nil {
			return nil, fmt.Errorf("%s is not a number", shown)
		}
		return []string{n.String()}, nil
	case kindBool:
		if isText && lax {
			return []string{s}, nil
		}
		var b bool
		if isText || raw[0] == 'n' || json.Unmarshal(raw, &b) != nil {
			return nil, fmt.Errorf("%s is neither true nor false", shown)
		}
		return []string{strconv.FormatBool(b)}, nil
	case kindReference:
		if !isText {
			return nil, errNoReference
		}
		return []string{s}, nil
	default:
		if !isText {
			return nil, fmt.Errorf("%s is not a string; write it in quotes", shown)
		}
		return []string{s}, nil
	}
}
