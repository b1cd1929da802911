package tools

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// known refuses arguments that the tool does not have.
func known(args map[string]any, names ...string) error {
	for name := range args {
		if !slices.Contains(names, name) {
			return fmt.Errorf("unknown argument %q; the arguments are: %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// textArg returns a required, not blank string argument.
func textArg(args map[string]any, name string) (string, error) {
	v, ok := args[name]
	s, isText := v.(string)
	switch {
	case !ok:
		return "", fmt.Errorf("the argument %q is missing", name)
	case !isText:
		return "", fmt.Errorf("the argument %q must be a string", name)
	case strings.TrimSpace(s) == "":
		return "", fmt.Errorf("the argument %q is empty", name)
	}
	return s, nil
}

// numberArg returns a whole number between 1 and most, or preset when absent.
func numberArg(args map[string]any, name string, preset, most int) (int, error) {
	var n float64
	switch v := args[name].(type) {
	case nil:
		return preset, nil
	case float64:
		n = v
	case int:
		n = float64(v)
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			f = math.NaN()
		}
		n = f
	default:
		n = math.NaN()
	}
	if n != math.Trunc(n) || n < 1 || n > float64(most) {
		return 0, fmt.Errorf("the argument %q must be a whole number from 1 to %d", name, most)
	}
	return int(n), nil
}
