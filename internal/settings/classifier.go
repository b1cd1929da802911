package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/reach"
)

// What becomes of a text about which the classifier does not tell, for classifier.fail.
const (
	FailOpen   = "open"
	FailClosed = "closed"
)

// Classifier says what else the runtime asks whether a text is an attack.
type Classifier struct {
	// URL is where texts are sent; empty: nowhere.
	URL string
	// Shape is plain or openai. Default: plain.
	Shape string
	// Model is the name of the model, for a server that has several.
	Model string
	// APIKey is where the key is.
	APIKey Reference
	// CAFile is a file with the authorities of the server's certificate. Default: those of the system.
	CAFile string
	// Timeout is how long one call may take. Default: 2s.
	Timeout time.Duration
	// Threshold is the least score of a finding of high confidence. Default: 0.5.
	Threshold float64
	// Fail is open or closed. Default: open.
	Fail string
	// Failures is how many calls have to fail in a row for the server to be left alone. Default: 5.
	Failures int
	// Pause is for how long it is left alone. Default: 30s.
	Pause time.Duration
	// MaxText is how much of one text is sent, in bytes. Default: 64 KiB.
	MaxText int64
	// Piece is how much is sent with one call, in bytes. Default: 8 KiB.
	Piece int64
	// Calls is how many calls may be on their way at the same time. Default: 8.
	Calls int
	// Unredacted sends texts with the credentials in them. Default: false.
	Unredacted bool
}

func checkClassifierURL(v string) error { return reach.CheckEndpoint(v, false) }

func checkClassifierShape(v string) error { return oneOf(v, "shape", "plain", "openai") }

func checkClassifierFail(v string) error {
	return oneOf(v, "way to fail", FailOpen, FailClosed)
}

func (c Classifier) check() error {
	if c.URL == "" {
		return nil
	}
	if c.Piece > c.MaxText {
		return About(fmt.Errorf("classifier.piece: %d is more than classifier.max_text, %d: write less, or set classifier.max_text", c.Piece, c.MaxText), "classifier.piece")
	}
	if err := reach.CheckEndpoint(c.URL, c.APIKey != ""); err != nil {
		return About(fmt.Errorf("classifier.url: %w", err), "classifier.url")
	}
	return nil
}

// checkSecrets reports a key that is not there.
func (c Classifier) checkSecrets(env func(string) (string, bool)) error {
	if c.URL == "" || c.APIKey == "" {
		return nil
	}
	if _, err := c.APIKey.Reveal(env); err != nil {
		return About(fmt.Errorf("classifier.api_key: %w", err), "classifier.api_key")
	}
	return nil
}

// fraction is a number above 0 and up to 1.
func fraction[T any](name, def, doc string, at func(*T) *float64) field[T] {
	return field[T]{
		name: name, kind: kindText, def: def, form: "above 0, up to 1", doc: doc,
		set: func(t *T, words []string) error {
			n, err := strconv.ParseFloat(strings.TrimSpace(words[0]), 64)
			if err != nil || !(n > 0 && n <= 1) {
				return errors.New("this is not a number above 0 and up to 1, such as 0.8")
			}
			*at(t) = n
			return nil
		},
		get: func(t *T) []string { return []string{strconv.FormatFloat(*at(t), 'g', -1, 64)} },
	}
}
