package items

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents"
)

// Bounds of an item.
const (
	MaxDepth = 16      // labels of a namespace
	MaxLabel = 256     // bytes of a label
	MaxKey   = 1024    // bytes of a key
	MaxValue = 1 << 20 // bytes of a value as JSON
	MaxTTL   = 10 * 365 * 24 * time.Hour
)

// Errors of this package. Those about what was sent are of the type [*agents.FieldError].
var (
	ErrNotFound  = errors.New("item not found")
	ErrTooLarge  = fmt.Errorf("the value is larger than %d bytes", MaxValue)
	ErrFull      = errors.New("the user's store is full")
	ErrAmbiguous = errors.New("several users have an item of this name")
)

// Item is one value in the store.
type Item struct {
	Owner     string // whose it is
	Namespace []string
	Key       string
	Value     json.RawMessage // a JSON object
	Created   time.Time
	Updated   time.Time
	TTL       time.Duration // how long it is kept after it was written or, if that is wanted, read; 0: for ever
	Expires   time.Time     // zero: never
}

// Gone reports whether the item has expired at a time.
func (i *Item) Gone(now time.Time) bool { return !i.Expires.IsZero() && !now.Before(i.Expires) }

// renew begins the item's time anew.
func (i *Item) renew(now time.Time) {
	i.Expires = time.Time{}
	if i.TTL > 0 {
		i.Expires = now.Add(i.TTL)
	}
}

// ParseNamespace reads the form in which a namespace stands in a URL: its labels with dots between them.
func ParseNamespace(text string) ([]string, error) {
	ns := strings.Split(text, ".")
	if text == "" {
		ns = nil
	}
	return ns, CheckNamespace("namespace", ns)
}

// Path is the form that [ParseNamespace] reads; it is unique, since labels have no dots.
func Path(ns []string) string { return strings.Join(ns, ".") }

// CheckNamespace says what is wrong with a namespace that items are kept under.
func CheckNamespace(field string, ns []string) error {
	if len(ns) == 0 {
		return &agents.FieldError{Field: field, Message: `must have at least one label, such as ["users"]`}
	}
	return checkLabels(field, ns)
}

// checkLabels says what is wrong with labels, of which there may be none.
func checkLabels(field string, ns []string) error {
	if len(ns) > MaxDepth {
		return &agents.FieldError{Field: field, Message: fmt.Sprintf("must not have more than %d labels", MaxDepth)}
	}
	for i, label := range ns {
		at := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case label == "":
			return &agents.FieldError{Field: at, Message: "must not be empty"}
		case strings.Contains(label, "."):
			return &agents.FieldError{Field: at, Message: "must not contain a dot, which stands between labels; split it into several labels, or write - for it"}
		case len(label) > MaxLabel:
			return &agents.FieldError{Field: at, Message: fmt.Sprintf("must not be longer than %d bytes", MaxLabel)}
		case !clean(label):
			return &agents.FieldError{Field: at, Message: "must be text without control characters"}
		}
	}
	return nil
}

// CheckKey says what is wrong with a key. Dots and slashes are fine.
func CheckKey(key string) error {
	switch {
	case key == "":
		return &agents.FieldError{Field: "key", Message: "must not be empty"}
	case len(key) > MaxKey:
		return &agents.FieldError{Field: "key", Message: fmt.Sprintf("must not be longer than %d bytes", MaxKey)}
	case !clean(key):
		return &agents.FieldError{Field: "key", Message: "must be text without control characters"}
	}
	return nil
}

func clean(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0
}
