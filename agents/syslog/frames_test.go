package syslog

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// cut returns the messages of a stream, shortened, and how it ended.
func cut(stream string) (all []string, err error) {
	f := newFrames(iotest.OneByteReader(strings.NewReader(stream)))
	for {
		m, truncated, err := f.next()
		if err != nil {
			return all, err
		}
		s := string(m)
		if len(s) > 20 {
			s = fmt.Sprintf("%d bytes", len(s))
		}
		if truncated {
			s += ", cut"
		}
		all = append(all, s)
	}
}

func TestFrames(t *testing.T) {
	long := strings.Repeat("x", maxMessage+5)
	for _, tt := range []struct {
		name, in string
		want     []string
		err      error
	}{
		{"nothing", "", nil, io.EOF},
		{"lines", "<13>a\n<13>b\r\n\n<13>c", []string{"<13>a", "<13>b\r", "<13>c"}, io.EOF},
		{"NUL", "<13>a\x00<13>b\x00", []string{"<13>a", "<13>b"}, io.EOF},
		{"counted", "5 <13>a6 <13>\nb", []string{"<13>a", "<13>\nb"}, io.EOF},
		{"both", "5 <13>a\n<13>b\n5 <13>c", []string{"<13>a", "<13>b", "<13>c"}, io.EOF},
		{"no priority", "hello\nyou\n", []string{"hello", "you"}, io.EOF},
		{"too short", "9 <13>a", nil, io.ErrUnexpectedEOF},
		{"length alone", "12", nil, io.ErrUnexpectedEOF},
		{"no length", "12x<13>a", nil, errFraming},
		{"absurd length", "123456789 <13>a", nil, errFraming},
		{"length that hides what follows", fmt.Sprint("<13>a\n", maxLength+1, " <13>b\n<13>c\n"), []string{"<13>a"}, errFraming},
		{"wrong length", "4 <13>a\n5 <13>b", []string{"<13>", "a", "<13>b"}, io.EOF},
		{"long line", long + "\n<13>b\n", []string{fmt.Sprint(maxMessage, " bytes, cut"), "<13>b"}, io.EOF},
		{"long and counted", fmt.Sprint(len(long), " ", long, "5 <13>b"), []string{fmt.Sprint(maxMessage, " bytes, cut"), "<13>b"}, io.EOF},
		{"largest", fmt.Sprint(maxMessage, " ", long[:maxMessage]), []string{fmt.Sprint(maxMessage, " bytes")}, io.EOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := cut(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.err) {
				t.Errorf("got %v, want %v\n%s", err, tt.err, diff)
			}
		})
	}
}

// FuzzFrames holds that messages with their lengths in front come out as they went in, and that no
// stream gives a message over the limit.
func FuzzFrames(f *testing.F) {
	f.Add("<13>a", "5 <13>a", uint(3))
	f.Fuzz(func(t *testing.T, message, rest string, n uint) {
		if len(message) == 0 {
			return
		}
		n %= 4
		r := newFrames(strings.NewReader(strings.Repeat(fmt.Sprintf("%d %s", len(message), message), int(n)) + rest))
		for range n {
			if got, cut, err := r.next(); err != nil || cut || string(got) != message {
				t.Fatalf("got %q, %v, %v, want %q", got, cut, err, message)
			}
		}
		for {
			m, _, err := r.next()
			if err != nil {
				return
			}
			if len(m) > maxMessage {
				t.Fatalf("got a message of %d bytes", len(m))
			}
		}
	})
}
