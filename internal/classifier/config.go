package classifier

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/scanner/redact"
)

// The shapes of requests and answers.
const (
	Plain  = "plain"
	OpenAI = "openai"
)

// Shapes are the names of the shapes.
var Shapes = []string{Plain, OpenAI}

// The defaults of a [Config].
const (
	DefaultTimeout   = 2 * time.Second
	DefaultThreshold = 0.5
	DefaultFailures  = 5
	DefaultPause     = 30 * time.Second
	DefaultMaxText   = 64 << 10
	DefaultPiece     = 8 << 10
	DefaultCalls     = 8
)

// The smallest piece in bytes, and the longest text.
const (
	MinPiece   = 256
	MaxMaxText = 16 << 20
)

// Config says where a classifier is and how it is asked. URL is required; what is zero has its default.
type Config struct {
	URL       string          // where each POST goes, http or https
	Shape     string          // Plain or OpenAI; default Plain
	Model     string          // the name of the model, for servers that have several
	Key       Secret          // sent as a bearer token
	CAFile    string          // the authorities of its certificate in PEM; default those of the system
	Timeout   time.Duration   // of one call, waiting for a place included
	Threshold float64         // the least score of a finding of high confidence, above 0 and at most 1
	Failures  int             // in a row, after which the server is left alone
	Pause     time.Duration   // for how long
	MaxText   int             // bytes of one text that are sent
	Piece     int             // bytes that are sent at once
	Calls     int             // at the same time
	Unchanged bool            // texts are sent with the credentials in them
	Secrets   *redact.Secrets // values that are credentials, beside what looks like one
	Log       *zap.Logger
}

// Check tells what is wrong with a configuration, without any I/O. It never repeats the URL or the key. The
// names of fields are those that who configures it sees.
func (c Config) Check() error {
	c = c.complete()
	switch {
	case !slices.Contains(Shapes, c.Shape):
		return fmt.Errorf("shape: unknown value %q: want %s", c.Shape, strings.Join(Shapes, " or "))
	case c.Timeout < 0 || c.Timeout > time.Minute:
		return fmt.Errorf("timeout: %s is out of range: write up to 1m", c.Timeout)
	case !(c.Threshold > 0 && c.Threshold <= 1):
		return fmt.Errorf("threshold: %g is out of range: write a number above 0 and up to 1, such as 0.8", c.Threshold)
	case c.Failures < 0 || c.Failures > 1000:
		return fmt.Errorf("failures: %d is out of range: write 1 to 1000", c.Failures)
	case c.Pause < 0 || c.Pause > time.Hour:
		return fmt.Errorf("pause: %s is out of range: write up to 1h", c.Pause)
	case c.MaxText < MinPiece || c.MaxText > MaxMaxText:
		return fmt.Errorf("max_text: %d is out of range: write %d to %d bytes", c.MaxText, MinPiece, MaxMaxText)
	case c.Piece < MinPiece || c.Piece > c.MaxText:
		return fmt.Errorf("piece: %d is out of range: write %d bytes to what max_text is, %d", c.Piece, MinPiece, c.MaxText)
	case c.Calls < 1 || c.Calls > 1000:
		return fmt.Errorf("calls: %d is out of range: write 1 to 1000", c.Calls)
	}
	if err := reach.CheckEndpoint(c.URL, c.Key != ""); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	return nil
}

func (c Config) complete() Config {
	c.Shape = cmp.Or(c.Shape, Plain)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Threshold = cmp.Or(c.Threshold, DefaultThreshold)
	c.Failures = cmp.Or(c.Failures, DefaultFailures)
	c.Pause = cmp.Or(c.Pause, DefaultPause)
	c.MaxText = cmp.Or(c.MaxText, DefaultMaxText)
	c.Piece = cmp.Or(c.Piece, min(DefaultPiece, c.MaxText))
	c.Calls = cmp.Or(c.Calls, DefaultCalls)
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	return c
}
