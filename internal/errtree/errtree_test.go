package errtree_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/errtree"
)

func TestText(t *testing.T) {
	err := fmt.Errorf("reading: %w", errors.Join(errors.New("one\ntwo"), errors.New("three")))
	want := "*fmt.wrapError: reading: one; two; three\n  *errors.joinError: one; two; three\n    *errors.errorString: one; two\n    *errors.errorString: three\n"
	if got := errtree.Text(err); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := errtree.Text(nil); got != "" {
		t.Errorf("nothing: got %q", got)
	}
	long := errors.New(strings.Repeat("x", 100<<10))
	for range 100 {
		long = fmt.Errorf("again: %w", long)
	}
	if got := len(errtree.Text(long)); got > 8<<10 {
		t.Errorf("got %d bytes", got)
	}
}
