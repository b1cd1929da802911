package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/bytesize"
)

func parseNumber(s string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	if n < low || n > high {
		return 0, fmt.Errorf("%d is out of range: use %d to %d", n, low, high)
	}
	return n, nil
}

func parseDuration(s string, low, high time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: write a number with its unit, such as 500ms, 60s, 10m or 2h", s)
	}
	if d < low || d > high {
		return 0, fmt.Errorf("%s is out of range: use %s to %s", d, low, high)
	}
	return d, nil
}

func parseSize(s string, low, high int64) (int64, error) {
	n, err := bytesize.Parse(s)
	if err != nil {
		return 0, err
	}
	if n < low || n > high {
		return 0, fmt.Errorf("%s is out of range: use %d to %d bytes", s, low, high)
	}
	return n, nil
}

// split takes a list as it is written in a flag or an environment variable.
func split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
}

// splitNames takes a list of names, which have commas and spaces in them.
func splitNames(s string) []string {
	var all []string
	for n := range strings.SplitSeq(s, ";") {
		if n = strings.TrimSpace(n); n != "" {
			all = append(all, n)
		}
	}
	return all
}

// words gives the words of a value written as one text.
func (o option) words(s string) []string {
	switch o.kind {
	case kindList:
		return split(s)
	case kindNames:
		return splitNames(s)
	default:
		return []string{s}
	}
}

func (k kind) many() bool { return k == kindList || k == kindNames }

// Parse checks the words of one value, as they stand in a Caddyfile after the setting's name,
// and returns it in the form it has in JSON. A word with a placeholder in it, {env.NAME} for
// example, cannot be judged yet and passes as it is.
func Parse(key string, words []string) (any, error) {
	o, ok := lookup(key)
	if !ok {
		return nil, Unknown(key)
	}
	if len(words) == 0 {
		return nil, errors.New("a value is missing")
	}
	if !o.kind.many() && len(words) > 1 {
		return nil, fmt.Errorf("one value is expected, %d are given", len(words))
	}
	for _, w := range words {
		if w == "" {
			return nil, errors.New("the value is empty: give one or leave the line out")
		}
		if strings.Contains(w, "{") && o.kind != kindReference {
			if o.kind.many() {
				return words, nil
			}
			return w, nil
		}
	}
	var s Settings
	if err := o.set(&s, words); err != nil {
		return nil, err
	}
	switch o.kind {
	case kindList, kindNames:
		return words, nil
	case kindBool:
		return o.show(&s) == "true", nil
	case kindNumber, kindSize:
		return strconv.ParseInt(o.show(&s), 10, 64)
	default:
		return o.show(&s), nil
	}
}
